import process from "node:process";
import { expect, test } from "vitest";
import { newMetrics } from "../../src/http/metrics.ts";
import { newApp } from "../../src/http/shell.ts";

test("requests are counted by method, route pattern and status", async () => {
  const metrics = newMetrics();
  const app = newApp({ observe: metrics.observe });
  app.get("/v1/cns/:id", (c) => c.json(null));
  for (const path of ["/v1/cns/1", "/v1/cns/2", "/elsewhere"]) await app.request(path);
  await app.request("/v1/cns/1", { method: "PROPFIND" });
  const { body, contentType } = await metrics.text();
  expect(contentType).toContain("text/plain");
  expect(body).toContain('http_requests_total{method="GET",route="/v1/cns/:id",status="200"} 2');
  expect(body).toContain('http_requests_total{method="GET",route="unmatched",status="404"} 1');
  expect(body).toContain('http_requests_total{method="other",route="unmatched",status="405"} 1');
  expect(body).toContain('http_request_duration_seconds_count{method="GET",route="/v1/cns/:id"} 2');
});

test("a thousand unknown paths add no series", async () => {
  const metrics = newMetrics();
  const app = newApp({ observe: metrics.observe });
  await app.request("/x");
  const before = (await metrics.text()).body.split("\n").length;
  for (let i = 0; i < 1_000; i++) await app.request(`/x${i}`);
  expect((await metrics.text()).body.split("\n").length).toBe(before);
});

test("a metrics registry has the memory, CPU time and start time of the process, and counts only its own server's requests", async () => {
  const uptime_s = process.uptime;
  const now_s = () => Date.now() / 1_000;
  const before = { now_s: now_s(), uptime_s: uptime_s() };
  const one = newMetrics();
  const after = { now_s: now_s(), uptime_s: uptime_s() };
  const other = newMetrics();
  one.observe({ method: "GET", route: "/", status: 200, duration_s: 0.01 });
  const { body } = await one.text();
  for (const name of ["process_resident_memory_bytes", "process_heap_bytes", "process_cpu_seconds_total"]) {
    expect(Number(new RegExp(`^${name} (.+)$`, "m").exec(body)?.[1])).toBeGreaterThan(0);
  }
  const start = Number(/^process_start_time_seconds (.+)$/m.exec(body)?.[1]);
  // The metrics read both clocks between `before` and `after`.
  expect(start).toBeGreaterThanOrEqual(before.now_s - after.uptime_s);
  expect(start).toBeLessThanOrEqual(after.now_s - before.uptime_s);
  expect((await other.text()).body).not.toContain('route="/"');
});
