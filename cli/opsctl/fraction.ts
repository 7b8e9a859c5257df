import { invalidValue } from "../framework.ts";
import { usageFailure } from "../internal/failure.ts";

/** Parses the value of an option: `50%` or `0.5` is 0.5. The option parser puts the option's name before the error. */
export function fractionOf(text: string): number {
  const { fraction, complaint } = parseFraction(text);
  if (complaint !== null) throw invalidValue(complaint);
  return fraction;
}

/** Parses the value of a setting. The error names the setting. */
export function settingFraction(key: string, text: string): number {
  const { fraction, complaint } = parseFraction(text);
  if (complaint !== null) throw usageFailure(`${text} is not a value of ${key}. ${complaint}`);
  return fraction;
}

/** A number above 1 without `%` is refused, because it may be meant in percent. */
function parseFraction(text: string): { readonly fraction: number; readonly complaint: string | null } {
  const [, digits, sign] = /^([0-9]+(?:\.[0-9]+)?|\.[0-9]+)(%?)$/.exec(text.trim()) ?? [];
  const fraction = digits === undefined ? NaN : sign === "%" ? Number(digits) / 100 : Number(digits);
  if (fraction >= 0 && fraction <= 1) return { fraction, complaint: null };
  const hint = sign === "" && fraction <= 100 ? ` Did you mean ${digits}%?` : "";
  return { fraction, complaint: `It must be 0% to 100%, or a fraction from 0 to 1.${hint}` };
}
