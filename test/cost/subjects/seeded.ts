/** Subjects that are bad on purpose, one for each kind of failure that the cost test must notice. */
import { DomainError } from "../../../src/domain/errors.ts";
import { repeated } from "../shape.ts";
import type { Subject } from "./subject.ts";

const SHAPES = [repeated(" ", "a", "b")];

export const seededSubjects = (): Subject[] => [
  {
    name: "linear",
    shapes: SHAPES,
    run: (text) => Array.from({ length: 40 }, () => Array.from(text as string).length),
  },
  {
    name: "quadratic",
    shapes: SHAPES,
    maxLength: 32_768,
    run: (text) => (text as string).replace(/ +$/, ""),
  },
  {
    name: "endless",
    shapes: SHAPES,
    // Waits forever: this hangs like an endless loop, but without load that would disturb other measurements.
    run: () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0),
  },
  { name: "bounded", shapes: SHAPES, run: (text) => (text as string).length > 4_096 && refuse() },
  { name: "without a code", shapes: SHAPES, run: (text) => JSON.parse(text as string) as unknown },
  {
    name: "many times its input",
    shapes: SHAPES,
    run: (text) => (text as string).length * 9,
    faultsOf: (made, text) => ((made as number) > text.length * 4 ? ["makes too much"] : []),
  },
  {
    name: "of too much memory",
    shapes: SHAPES,
    run(text) {
      const kept: string[][] = [];
      while ((text as string).length > 50_000) kept.push(Array.from(text as string));
    },
  },
];

function refuse(): never {
  throw new DomainError("too_large", "Seeded.");
}
