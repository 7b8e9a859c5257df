// Reads the settings of a systemd unit.
export type Unit = {
  /** Returns the values of a key that may occur several times. */
  all(key: string): readonly string[];
  /** Returns the value of a key that occurs once. Throws an Error otherwise. */
  one(key: string): string;
};

export function parseUnit(text: string): Unit {
  const lines = text.split("\n").map((line) => line.trim()).filter((line) => /^[A-Za-z]+=/.test(line));
  const all = (key: string) =>
    lines.filter((line) => line.startsWith(`${key}=`)).map((line) => line.slice(key.length + 1));
  return {
    all,
    one(key) {
      const [value, second] = all(key);
      if (value === undefined || second !== undefined) {
        throw new Error(`${key} occurs ${all(key).length} times, not once`);
      }
      return value;
    },
  };
}
