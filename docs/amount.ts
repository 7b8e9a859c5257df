// Formats the value of a constant with the unit that its name contains: SETUP_LIMIT_MS 2700000 is "45 min".

type Unit = readonly [factor: number, name: string];

const TIME: readonly Unit[] = [[86_400_000, "d"], [3_600_000, "h"], [60_000, "min"], [1_000, "s"], [1, "ms"]];
const BYTES: readonly Unit[] = [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [1, "bytes"]];

/** The parts of a name that contain its unit. The first match applies. */
const UNITS: readonly (readonly [part: RegExp, text: (value: number) => string])[] = [
  [/_BYTES_PER_S(?:ECOND)?(?:_|$)/, (value) => `${scaled(value, BYTES)} a second`],
  [/_PER_S(?:ECOND)?(?:_|$)/, (value) => `${plain(value)} a second`],
  [/_PER_MINUTE(?:_|$)/, (value) => `${plain(value)} a minute`],
  [/_PER_HOUR(?:_|$)/, (value) => `${plain(value)} an hour`],
  [/_MS(?:_|$)/, (value) => scaled(value, TIME)],
  [/_(?:S|SECS)(?:_|$)/, (value) => scaled(value * 1_000, TIME)],
  [/_HOURS(?:_|$)/, (value) => scaled(value * 3_600_000, TIME)],
  [/_DAYS(?:_|$)/, (value) => scaled(value * 86_400_000, TIME)],
  [/_NS(?:_|$)/, (value) => scaled(value / 1_000_000, TIME)],
  [/_BYTES(?:_|$)/, (value) => scaled(value, BYTES)],
  [/_BITS(?:_|$)/, (value) => `${plain(value)} bits`],
  [/_CHARS(?:_|$)/, (value) => `${plain(value)} characters`],
  [/_ROWS(?:_|$)/, (value) => `${plain(value)} rows`],
];

/** Returns the value in the largest unit that gives a whole number; without such a unit, in the smallest unit. */
export function amount(name: string, value: number): string {
  return (UNITS.find(([part]) => part.test(name))?.[1] ?? plain)(value);
}

function scaled(value: number, units: readonly Unit[]): string {
  const [factor, name] = units.find(([factor]) => value >= factor && value % factor === 0) ?? units.at(-1)!;
  return `${plain(value / factor)} ${name}`;
}

function plain(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: 2 });
}
