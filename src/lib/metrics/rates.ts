// Computes how much a machine used between two samples of its counters.
import type { MetricsSample } from "../../contract/instance-metrics.ts";

/** The members of a sample that only grow while the machine runs. */
export type Counter = Exclude<keyof MetricsSample, "at" | "memory_bytes">;
/** A sample and the sample before it. The difference is the use in between. */
export type Interval = { readonly from: MetricsSample; readonly to: MetricsSample };

/** Pairs each sample with the previous sample. The first sample only begins the first interval. */
export function intervalsOf(samples: readonly MetricsSample[]): readonly Interval[] {
  return samples.slice(1).map((to, index) => ({ from: samples[index]!, to }));
}

/**
 * Returns the increase per second. Null if the counter decreased, or if the times do not increase. A counter decreases
 * if the machine started again in between.
 */
export function rate({ from, to }: Interval, counter: Counter): number | null {
  const seconds = (Date.parse(to.at) - Date.parse(from.at)) / 1_000;
  const increase = to[counter] - from[counter];
  return increase < 0 || seconds <= 0 ? null : increase / seconds;
}
