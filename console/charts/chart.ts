// Draws a line chart of one or two series over time. Only pages with charts load this file.
import uPlot from "uplot";

/** The first list has times in seconds since 1970. Each other list has the values of one series; null is a gap. */
export type ChartData = readonly [readonly number[], ...(readonly (readonly (number | null)[])[])];
export type Chart = { set(data: ChartData): void; dispose(): void };

const HEIGHT_PX = 160;
const AXIS_PX = 84;

/**
 * Draws a chart in an element.
 * @param names the names of the series
 * @param text returns a value as text, with its unit
 */
export function openChart(
  box: HTMLElement,
  names: readonly string[],
  text: (value: number) => string,
  data: ChartData,
): Chart {
  const token = (name: string) => getComputedStyle(document.documentElement).getPropertyValue(name);
  const [line, dim] = [colorOf(token("--line")), colorOf(token("--dim"))];
  const strokes = [colorOf(token("--accent")), colorOf(token("--warn"))];
  const axis = { stroke: dim, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  const chart = new uPlot(
    {
      width: box.clientWidth,
      height: HEIGHT_PX,
      cursor: { y: false },
      scales: { y: { range: (_, __, max) => [0, max > 0 ? max * 1.1 : 1] } },
      series: [
        { value: (_: uPlot, time: number | null) => time === null ? "–" : dateTime(time).join(" ") },
        ...names.map((label, index) => ({
          label,
          stroke: strokes[index] ?? dim,
          width: 1.5,
          value: (_: uPlot, value: number | null) => value === null ? "–" : text(value),
        })),
      ],
      axes: [{ ...axis, values: (_, times) => times.map(tick) }, {
        ...axis,
        size: AXIS_PX,
        values: (_, values) => values.map(text),
      }],
    },
    dataOf(data),
    box,
  );
  const watch = new ResizeObserver(() => chart.setSize({ width: box.clientWidth, height: HEIGHT_PX }));
  watch.observe(box);
  return {
    set: (next) => chart.setData(dataOf(next)),
    dispose: () => {
      watch.disconnect();
      chart.destroy();
    },
  };
}

/** Returns the date and the time of day of a time in seconds, in the browser's time zone: 2026-11-23, 16:05. */
function dateTime(time_s: number): readonly [date: string, time: string] {
  const at = new Date(time_s * 1_000);
  const two = (value: number) => String(value).padStart(2, "0");
  const seconds = at.getSeconds() === 0 ? "" : `:${two(at.getSeconds())}`;
  return [
    `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`,
    `${two(at.getHours())}:${two(at.getMinutes())}${seconds}`,
  ];
}

/** The text at a line of the time axis: the time of day, or at midnight the month and the day. */
function tick(time_s: number): string {
  const [date, time] = dateTime(time_s);
  return time === "00:00" ? date.slice("2026-".length) : time;
}

/** uPlot's type asks for mutable arrays, but uPlot does not change them. */
function dataOf(data: ChartData): uPlot.AlignedData {
  return data as uPlot.AlignedData;
}

/** Returns the colour of a CSS variable as a canvas needs it: a canvas does not understand light-dark(). */
function colorOf(token: string): string {
  const probe = document.createElement("span");
  probe.style.color = token;
  document.body.append(probe);
  const color = getComputedStyle(probe).color;
  probe.remove();
  return color;
}
