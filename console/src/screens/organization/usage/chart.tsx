import { useComputedColorScheme } from "@mantine/core";
import { type ReactNode, useEffect, useRef } from "react";
import UPlot from "uplot";
import "uplot/dist/uPlot.min.css";

interface Props {
  /** What it shows, for those who do not see it. */
  readonly label: string;
  /** Days in UTC. */
  readonly days: readonly string[];
  readonly values: readonly number[];
  readonly format: (value: number) => string;
  readonly formatDay: (day: string) => string;
}

const HEIGHT = 180;
const BAR_WIDTH = 0.7;
const WIDEST_BAR = 40;
const HALF_DAY = 0.5;
/** Nothing that is counted has a half. */
const WHOLE_STEPS = Array.from({ length: 15 }, (_, power) =>
  [1, 2, 5].map((step) => step * 10 ** power),
).flat();
const AXIS_WIDTH = 76;
const DAY_SPACE = 70;

/** Bars, one a day. The colours are those of the page, so that it is drawn anew when they change. */
export function Chart({ label, days, values, format, formatDay }: Props): ReactNode {
  const holder = useRef<HTMLDivElement>(null);
  const scheme = useComputedColorScheme("light");
  useEffect(() => {
    const element = holder.current;
    if (element === null) return;
    const style = getComputedStyle(element);
    const color = (name: string): string => style.getPropertyValue(`--mantine-color-${name}`).trim();
    const axis = { stroke: color("dimmed-text") || style.color, grid: { stroke: color("default-border") } };
    const chart = new UPlot(
      {
        width: element.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { show: false },
        scales: {
          // Half a day on each side, so that the bars of the first and last day are whole.
          x: { time: false, range: [-HALF_DAY, days.length - HALF_DAY] },
          y: { range: (_, __, max) => [0, Math.max(max, 1)] },
        },
        series: [
          {},
          {
            fill: color(scheme === "dark" ? "indigo-4" : "indigo-7"),
            paths: UPlot.paths.bars!({ size: [BAR_WIDTH, WIDEST_BAR], align: 0 }),
            points: { show: false },
          },
        ],
        axes: [
          {
            ...axis,
            grid: { show: false },
            space: DAY_SPACE,
            incrs: [1, 2, 5, 7, 14, 30],
            values: (_, splits) => splits.map((at) => (days[at] === undefined ? "" : formatDay(days[at]))),
          },
          {
            ...axis,
            size: AXIS_WIDTH,
            incrs: WHOLE_STEPS,
            values: (_, splits) => splits.map((value) => format(value)),
          },
        ],
      },
      [days.map((_, index) => index), [...values]],
      element,
    );
    const watcher = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: HEIGHT }));
    watcher.observe(element);
    return () => {
      watcher.disconnect();
      chart.destroy();
    };
  }, [days, values, format, formatDay, scheme]);
  return <div ref={holder} role="img" aria-label={label} style={{ width: "100%", minHeight: HEIGHT }} />;
}
