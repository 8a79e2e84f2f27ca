/** Numbers, dates and sizes in the language of the person, and in the time zone of the browser. */
import { type Language, useLanguage } from "./messages.ts";

const UNITS = ["byte", "kilobyte", "megabyte", "gigabyte", "terabyte"] as const;
const STEP = 1_000;
const SPANS: ReadonlyArray<readonly [Intl.RelativeTimeFormatUnit, number]> = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

export interface Formats {
  number(value: number): string;
  /** @param share 0 to 1 */
  percent(share: number): string;
  bytes(value: number): string;
  /** Date and time. */
  time(iso: string): string;
  date(iso: string): string;
  /** "3 minutes ago"; below a minute "now". */
  ago(iso: string, now?: number): string;
  /** "1.4 s", "230 ms" */
  duration(milliseconds: number): string;
}

const made = new Map<Language, Formats>();

/** Made once for each language: the browser takes long to make one, and every row of a list needs some. */
function formatsOf(language: Language): Formats {
  const formats = made.get(language) ?? makeFormats(language);
  made.set(language, formats);
  return formats;
}

function makeFormats(language: Language): Formats {
  const number = new Intl.NumberFormat(language, { maximumFractionDigits: 2 });
  const percent = new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 0 });
  const time = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
  const date = new Intl.DateTimeFormat(language, { dateStyle: "medium" });
  const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  const units = new Map<string, Intl.NumberFormat>();
  const inUnit = (value: number, unit: string, digits: number): string => {
    const key = `${unit} ${digits}`;
    const format =
      units.get(key) ??
      new Intl.NumberFormat(language, {
        style: "unit",
        unit,
        unitDisplay: "short",
        maximumFractionDigits: digits,
      });
    units.set(key, format);
    return format.format(value);
  };
  return {
    number: (value) => number.format(value),
    percent: (share) => percent.format(share),
    bytes(value) {
      const power = value < 1 ? 0 : Math.min(Math.floor(Math.log10(value) / 3), UNITS.length - 1);
      return inUnit(value / STEP ** power, UNITS[power]!, power === 0 ? 0 : 1);
    },
    time: (iso) => time.format(new Date(iso)),
    date: (iso) => date.format(new Date(iso)),
    ago(iso, now = Date.now()) {
      const seconds = Math.round((new Date(iso).getTime() - now) / 1_000);
      const span = SPANS.find(([, length]) => Math.abs(seconds) >= length);
      return span === undefined
        ? relative.format(0, "second")
        : relative.format(Math.round(seconds / span[1]), span[0]);
    },
    duration: (milliseconds) =>
      milliseconds < STEP
        ? inUnit(milliseconds, "millisecond", 0)
        : inUnit(milliseconds / STEP, "second", milliseconds < 10 * STEP ? 1 : 0),
  };
}

export function useFormats(): Formats {
  return formatsOf(useLanguage());
}
