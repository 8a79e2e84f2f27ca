/**
 * What the steps of a program saw, which a test then looks into. The programs are in Python and in
 * JavaScript.
 */

/** A step that failed: the class of the client's error, and what it says. */
interface StepError {
  readonly type: string;
  readonly bases: readonly string[];
  readonly message: string;
  readonly status_code: number | null;
  readonly code: string | null;
  readonly param: string | null;
  readonly body: unknown;
}

export interface Steps {
  readonly names: readonly string[];
  /** What a step returned. @throws Error if it failed. */
  // oxlint-disable-next-line typescript/no-explicit-any -- a test looks into whatever came
  value(name: string): any;
  /** The error that a step ended with. @throws Error if it did not fail. */
  error(name: string): StepError;
}

interface Outcome {
  readonly value?: unknown;
  readonly error?: StepError;
}

function lookInto(outcomes: ReadonlyMap<string, Outcome>): Steps {
  const outcome = (name: string): Outcome => {
    const found = outcomes.get(name);
    if (found === undefined) throw new Error(`no step ${name}; there are ${[...outcomes.keys()].join(", ")}`);
    return found;
  };
  return {
    names: [...outcomes.keys()],
    value(name) {
      const { value, error } = outcome(name);
      if (error !== undefined) throw new Error(`step ${name} failed: ${JSON.stringify(error)}`);
      return value;
    },
    error(name) {
      const { value, error } = outcome(name);
      if (error === undefined) throw new Error(`step ${name} did not fail: ${JSON.stringify(value)}`);
      return error;
    },
  };
}

/** Reads what a program of Python printed. */
export function stepsOf(lines: readonly string[]): Steps {
  const parsed = lines.map((line) => JSON.parse(line) as Outcome & { readonly step: string });
  return lookInto(new Map(parsed.map(({ step, ...outcome }) => [step, outcome])));
}

function described(error: unknown): StepError {
  const bases: string[] = [];
  for (let base: unknown = Object.getPrototypeOf(error); base !== null; base = Object.getPrototypeOf(base))
    bases.push((base as { constructor: { name: string } }).constructor.name);
  const { message, status, code, param, error: body } = error as Record<string, unknown>;
  return {
    type: bases[0] ?? "",
    bases,
    message: String(message),
    status_code: (status as number | undefined) ?? null,
    code: (code as string | undefined) ?? null,
    param: (param as string | undefined) ?? null,
    body: body ?? null,
  };
}

export interface Program {
  /** @returns what `call` returns. Later steps fail if they need it and it failed. */
  step<T>(name: string, call: () => Promise<T>): Promise<T>;
  end(): Steps;
}

/** Begins a program in JavaScript. */
export function beginProgram(): Program {
  const outcomes = new Map<string, Outcome>();
  return {
    async step<T>(name: string, call: () => Promise<T>): Promise<T> {
      try {
        const value = await call();
        outcomes.set(name, { value: JSON.parse(JSON.stringify(value ?? null)) as unknown });
        return value;
      } catch (error) {
        outcomes.set(name, { error: described(error) });
        // What needs it fails as well, each in a step of its own.
        return {} as T;
      }
    },
    end: () => lookInto(outcomes),
  };
}
