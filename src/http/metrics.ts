// Collects the Prometheus metrics of one process. Labels have a limited number of values: route patterns, statuses,
// seven methods and "other". Does not use the default metrics of prom-client, because they read /proc, and the server's
// permissions forbid that.
import process from "node:process";
import { Counter, Gauge, Histogram, Registry } from "prom-client";
import type { Observation } from "./shell.ts";

export type Metrics = {
  /** The registry of metrics. The process can add further metrics to the registry. */
  readonly registry: Registry;
  readonly observe: (seen: Observation) => void;
  /** Returns the exposition text and its content type. */
  text(): Promise<{ body: string; contentType: string }>;
};

const METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
/**
 * The upper bounds of the buckets, in seconds. The highest bound is the longest wait of a long poll. A request that
 * waits for the outcome of an operation can take longer.
 */
const BUCKETS_S = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];

/**
 * Creates the metrics of a server. Each server has its own registry, so that several servers in one process do not
 * share counters.
 */
export function newMetrics(): Metrics {
  const registry = new Registry();
  const labelNames = ["method", "route", "status"] as const;
  const requests = new Counter({
    name: "http_requests_total",
    help: "Requests answered",
    labelNames,
    registers: [registry],
  });
  const durations = new Histogram({
    name: "http_request_duration_seconds",
    help: "Seconds from the request's arrival to its answer",
    labelNames: ["method", "route"],
    buckets: BUCKETS_S,
    registers: [registry],
  });
  addProcessMetrics(registry);
  return {
    registry,
    observe({ method: asked, route, status, duration_s }) {
      const method = METHODS.has(asked) ? asked : "other";
      requests.inc({ method, route, status });
      durations.observe({ method, route }, duration_s);
    },
    async text() {
      return { body: await registry.metrics(), contentType: registry.contentType };
    },
  };
}

function addProcessMetrics(registry: Registry): void {
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(read());
      },
    });
  const startedAt = Date.now() / 1_000 - process.uptime();
  gauge("process_start_time_seconds", "Start of the process, seconds since 1970", () => startedAt);
  gauge("process_resident_memory_bytes", "Resident memory", () => process.memoryUsage().rss);
  gauge("process_heap_bytes", "Used heap", () => process.memoryUsage().heapUsed);
  new Counter({
    name: "process_cpu_seconds_total",
    help: "User and system time",
    registers: [registry],
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1_000_000);
    },
  });
}
