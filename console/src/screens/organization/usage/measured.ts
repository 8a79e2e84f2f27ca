import type { Formats } from "../../../messages/formats.ts";
import type { Measure } from "./series.ts";

export const measured = (formats: Formats, measure: Measure, value: number): string =>
  measure === "bytes" ? formats.bytes(value) : formats.number(value);
