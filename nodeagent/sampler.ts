// Takes samples of the VMs' metrics. A sample is kept until it was sent or the next one is due.
import type { MachineMetrics } from "../src/contract/instance-metrics.ts";
import type { Driver } from "./driver.ts";

export type Sample = Readonly<Record<string, MachineMetrics>>;

export type Sampler = {
  /** Returns the sample that was not sent yet, or null. Takes a new sample when one is due. */
  unsent(): Promise<Sample | null>;
  /** Notes that this sample was sent. A newer sample is still kept. */
  sent(which: Sample | null): void;
};

type Options = { readonly period_ms: number; readonly monotonicMs: () => number };

export function createSampler(driver: Pick<Driver, "metrics">, { period_ms, monotonicMs }: Options): Sampler {
  let sample: Sample | null = null;
  let taken_ms = -Infinity;
  return {
    unsent: async () => {
      if (monotonicMs() - taken_ms < period_ms) return sample;
      taken_ms = monotonicMs();
      // If the metrics cannot be read, the status is sent without them.
      const read = await driver.metrics().catch(() => ({}));
      sample = Object.keys(read).length === 0 ? null : read;
      return sample;
    },
    sent: (which) => {
      if (sample === which) sample = null;
    },
  };
}
