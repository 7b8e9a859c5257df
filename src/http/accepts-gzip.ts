/** Returns whether an Accept-Encoding header accepts gzip. */
export function acceptsGzip(header: string | undefined): boolean {
  return (header ?? "").split(",").some((each) => /^\s*(?:gzip|\*)\s*(?:;\s*q=(?!0(?:\.0*)?\s*$).*)?$/i.test(each));
}
