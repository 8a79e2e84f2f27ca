/** How commands print, and parse numbers. */
import { ExpectedFailure } from "../domain/expected-failure.ts";

/** A failure whose message is all that the user needs. Any other failure is printed with its stack. */
export class CommandError extends ExpectedFailure {
  constructor(message: string) {
    super(message);
    this.name = "CommandError";
  }
}

/** Parses an option as a number from 1 to `most`. @throws CommandError that names the option */
export function wholeNumber(option: string, text: string, most: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < 1 || value > most)
    throw new CommandError(`${option} must be a whole number from 1 to ${most}.`);
  return value;
}

/** A count with its noun; the plural ends with s: "1 row", "2 rows". */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

export function printLine(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function printJson(value: unknown): void {
  printLine(JSON.stringify(value, null, 2));
}

/** Prints columns, each as wide as its widest cell. */
export function printTable(header: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  for (const row of [header, ...rows])
    printLine(
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    );
}
