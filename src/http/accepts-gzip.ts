/** Returns whether an Accept-Encoding header accepts gzip. `*` means every coding that the header does not name. */
export function acceptsGzip(header: string | undefined): boolean {
  const weights = new Map(
    (header ?? "").split(",").map((each) => {
      const [coding = "", weight] = each.split(";").map((part) => part.trim().toLowerCase());
      return [coding, weight];
    }),
  );
  const weight = weights.has("gzip") ? weights.get("gzip") : weights.has("*") ? weights.get("*") : "q=0";
  return weight === undefined || !/^q\s*=\s*0(?:\.0*)?$/.test(weight);
}
