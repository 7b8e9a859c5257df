// Parses file sizes in the comments of checksum documents of the Red Hat family: "# name: 645988352 bytes".

/** Returns the sizes in bytes by file name. Skips all lines without a size. */
export function parseSizes(text: string): ReadonlyMap<string, number> {
  const sizes = new Map<string, number>();
  for (const line of text.split("\n")) {
    const match = /^# ([^:\s]{1,255}): ([0-9]{1,15}) bytes\s*$/.exec(line);
    if (match !== null) sizes.set(match[1]!, Number(match[2]));
  }
  return sizes;
}
