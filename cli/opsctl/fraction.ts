import { invalidValue } from "../framework.ts";

/** Parses a share: `50%` or `0.5` is 0.5. A number above 1 without `%` is refused, because it may be meant in percent. */
export function fractionOf(text: string): number {
  const [, digits, sign] = /^([0-9]+(?:\.[0-9]+)?|\.[0-9]+)(%?)$/.exec(text.trim()) ?? [];
  const fraction = digits === undefined ? NaN : sign === "%" ? Number(digits) / 100 : Number(digits);
  if (fraction >= 0 && fraction <= 1) return fraction;
  const hint = sign === "" && fraction <= 100 ? ` Did you mean ${digits}%?` : "";
  throw invalidValue(`It must be 0% to 100%, or a fraction from 0 to 1.${hint}`);
}
