/**
 * Reads docker-compose.yml as Compose does: YAML with merges, then each string interpolated. Forms that it
 * does not know are refused.
 */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parse } from "yaml";

const ROOT = join(import.meta.dirname, "../..");

export interface Service {
  readonly image?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly env_file?: ReadonlyArray<{ readonly path: string; readonly required: boolean }>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly volumes?: ReadonlyArray<string | Readonly<Record<string, unknown>>>;
  readonly profiles?: readonly string[];
}

/**
 * Returns the services of the file as containers get them, with the variables of a .env.
 * @throws Error if a required variable is missing
 */
export async function readServices(
  variables: Readonly<Record<string, string>>,
): Promise<Readonly<Record<string, Service>>> {
  const document = parse(await readFile(join(ROOT, "docker-compose.yml"), "utf8"), { merge: true }) as {
    services: Record<string, unknown>;
  };
  const services = interpolateAll(document.services, variables) as Record<string, Service>;
  for (const [name, { environment = {} }] of Object.entries(services)) {
    for (const [variable, value] of Object.entries(environment))
      if (typeof value !== "string") throw new Error(`${name}: ${variable} is no text: YAML may change it`);
  }
  return services;
}

function interpolateAll(value: unknown, variables: Readonly<Record<string, string>>): unknown {
  if (typeof value === "string") return interpolate(value, variables);
  if (Array.isArray(value)) return value.map((one) => interpolateAll(one, variables));
  if (typeof value === "object" && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, interpolateAll(one, variables)]),
    );
  return value;
}

/**
 * Knows the forms that the file uses: `${A}`, `${A:-b}`, `${A:?b}`, `${A:+b}`, `$$`. Values are not
 * interpolated again.
 */
export function interpolate(text: string, variables: Readonly<Record<string, string>>): string {
  return text.replaceAll(
    /\$(?:\$|\{(\w+)(?:(:[-?+])([^{}$]*))?\}|)/g,
    (found, name: string | undefined, operator: string | undefined, word: string | undefined) => {
      if (found === "$$") return "$";
      if (name === undefined) throw new Error(`not a form of interpolation that the tests know: ${text}`);
      const value = variables[name] ?? "";
      if (operator === ":-") return value === "" ? word! : value;
      if (operator === ":+") return value === "" ? "" : word!;
      if (operator === ":?" && value === "") throw new Error(`${name}: ${word}`);
      return value;
    },
  );
}
