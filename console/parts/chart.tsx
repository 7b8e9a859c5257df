// Shows a chart with its title and its newest values as text, so that a user can read the values without the picture.
import { useEffect, useRef } from "preact/hooks";
import type { Chart, ChartData } from "../charts/chart.ts";

type Props = {
  readonly title: string;
  /** The names of the series. */
  readonly names: readonly string[];
  /** The text of a value, with its unit. */
  readonly text: (value: number) => string;
  readonly data: ChartData;
};

export function LineChart({ title, names, text, data }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<Chart | null>(null);
  const latest = useRef(data);
  latest.current = data;
  useEffect(() => {
    let isGone = false;
    void import("../charts/chart.ts").then(({ openChart }) => {
      if (!isGone && box.current !== null) chart.current = openChart(box.current, names, text, latest.current);
    });
    return () => {
      isGone = true;
      chart.current?.dispose();
    };
  }, []);
  useEffect(() => chart.current?.set(data), [data]);
  const newest = names.map((name, index) => {
    const value = data[index + 1]?.at(-1) ?? null;
    return `${names.length > 1 ? `${name} ` : ""}${value === null ? "–" : text(value)}`;
  });
  return (
    <section class="section">
      <h2>
        {title} <span class="dim">{newest.join(", ")}</span>
      </h2>
      <div class="chart" ref={box} aria-hidden="true" />
    </section>
  );
}
