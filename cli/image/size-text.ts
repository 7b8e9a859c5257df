const UNITS = ["KiB", "MiB", "GiB", "TiB"] as const;

/** Formats a size for people: `512 B`, `1.5 GiB`. */
export function sizeText(bytes: number): string {
  let value = bytes;
  let unit = "B";
  for (const next of UNITS) {
    if (value < 1024) break;
    value /= 1024;
    unit = next;
  }
  return unit === "B" ? `${bytes} B` : `${value.toFixed(1)} ${unit}`;
}
