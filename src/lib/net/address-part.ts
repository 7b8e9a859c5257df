// Checks texts that a search compares with addresses.

/**
 * Returns whether a text in lower case can be a part of an IPv4, IPv6 or MAC address. Between two separators, an
 * address has at most four digits.
 */
export function isAddressPart(text: string): boolean {
  return /^[0-9a-f.:]+$/.test(text) && !/[0-9a-f]{5}/.test(text);
}
