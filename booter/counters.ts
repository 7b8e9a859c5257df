// Provides counters and gauges in Prometheus text format. Each label has a fixed set of values, so that no packet can
// create a new time series.
export type Counters = {
  count(name: string, labels?: Readonly<Record<string, string>>): void;
  /** Registers a gauge. `read` is called whenever the metrics are requested. */
  gauge(name: string, read: () => number): void;
  valueOf(name: string, labels?: Readonly<Record<string, string>>): number;
  text(): string;
};

export function newCounters(): Counters {
  const counts = new Map<string, number>();
  const gauges = new Map<string, () => number>();
  return {
    count(name, labels = {}) {
      const series = seriesOf(name, labels);
      counts.set(series, (counts.get(series) ?? 0) + 1);
    },
    gauge: (name, read) => void gauges.set(name, read),
    valueOf: (name, labels = {}) => counts.get(seriesOf(name, labels)) ?? 0,
    text() {
      const lines = [...counts].map(([series, value]) => `booter_${series} ${value}`).sort();
      const read = [...gauges].map(([name, value]) => `booter_${name} ${value()}`);
      return [...lines, ...read, ""].join("\n");
    },
  };
}

/** Returns the name of a series with its labels. This function runs for every packet, so it builds no list. */
function seriesOf(name: string, labels: Readonly<Record<string, string>>): string {
  let pairs = "";
  for (const key in labels) pairs += `${pairs === "" ? "" : ","}${key}="${labels[key]}"`;
  return pairs === "" ? name : `${name}{${pairs}}`;
}
