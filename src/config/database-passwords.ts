/** Reads the database logins' passwords from their own settings: no need to percent-encode them. */
import { readFileSync } from "node:fs";
import { z } from "zod";
import { ABOUT, READERS, type Reader } from "./settings/about.ts";

const LOGINS = ["DATABASE", "DATABASE_SYSTEM", "DATABASE_MAINTENANCE", "DATABASE_OWNER"] as const;
type Login = (typeof LOGINS)[number];
type Variable = `${Login}_${"URL" | "PASSWORD" | "PASSWORD_FILE"}`;
type Given = Partial<Record<Variable, string>>;

const READERS_OF: Readonly<Record<Login, readonly Reader[]>> = {
  DATABASE: READERS,
  DATABASE_SYSTEM: READERS,
  DATABASE_MAINTENANCE: ["worker", "npm start", "holdfast"],
  DATABASE_OWNER: ["npm start", "holdfast"],
};

const passwordOf = (login: Login) =>
  z
    .string()
    .optional()
    .register(ABOUT, {
      what: `the password of \`${login}_URL\`, without percent-encoding`,
      readBy: READERS_OF[login],
      isSecret: true,
    });

const passwordFileOf = (login: Login) =>
  z
    .string()
    .optional()
    .register(ABOUT, { what: `a file with \`${login}_PASSWORD\``, readBy: READERS_OF[login] });

export const PASSWORD_SETTINGS = {
  DATABASE_PASSWORD: passwordOf("DATABASE"),
  DATABASE_SYSTEM_PASSWORD: passwordOf("DATABASE_SYSTEM"),
  DATABASE_MAINTENANCE_PASSWORD: passwordOf("DATABASE_MAINTENANCE"),
  DATABASE_OWNER_PASSWORD: passwordOf("DATABASE_OWNER"),
  DATABASE_PASSWORD_FILE: passwordFileOf("DATABASE"),
  DATABASE_SYSTEM_PASSWORD_FILE: passwordFileOf("DATABASE_SYSTEM"),
  DATABASE_MAINTENANCE_PASSWORD_FILE: passwordFileOf("DATABASE_MAINTENANCE"),
  DATABASE_OWNER_PASSWORD_FILE: passwordFileOf("DATABASE_OWNER"),
} as const satisfies Record<Exclude<Variable, `${Login}_URL`>, z.ZodOptional<z.ZodString>>;

/** @returns the settings with passwords in their URLs, and a line for each that cannot be; no values. */
export function withPasswords<T extends Given>(
  given: T,
): { readonly given: T; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const urls: Given = {};
  for (const login of LOGINS) {
    const merged = mergeLogin(given, login);
    if (merged === undefined) continue;
    if ("problem" in merged) problems.push(merged.problem);
    else urls[`${login}_URL`] = merged.url;
  }
  return { given: { ...given, ...urls }, problems };
}

/** Undefined if no password is set outside of the URL, or if that is invalid: its own form says so. */
function mergeLogin(
  given: Given,
  login: Login,
): { readonly url: string } | { readonly problem: string } | undefined {
  const {
    [`${login}_URL`]: url,
    [`${login}_PASSWORD`]: own,
    [`${login}_PASSWORD_FILE`]: file,
  } = given as Record<string, string | undefined>;
  const name = file === undefined ? `${login}_PASSWORD` : `${login}_PASSWORD_FILE`;
  if (own === undefined && file === undefined) return undefined;
  if (own !== undefined && file !== undefined)
    return { problem: `${name} cannot be set together with ${login}_PASSWORD` };
  if (url === undefined) return { problem: `${name} needs ${login}_URL` };
  const password = own ?? readPassword(file!);
  if (password === undefined)
    return { problem: `${name} must name a file with a password that this process can read` };
  return URL.canParse(url) ? putInto(new URL(url), password, { name, login }) : undefined;
}

function putInto(
  url: URL,
  password: string,
  { name, login }: { readonly name: string; readonly login: Login },
): { readonly url: string } | { readonly problem: string } {
  if (url.username === "") return { problem: `${name} needs a user in ${login}_URL` };
  if (url.password !== "" && decoded(url.password) !== password)
    return { problem: `${name} differs from the password in ${login}_URL` };
  url.password = encodeURIComponent(password);
  return { url: url.toString() };
}

function decoded(password: string): string | undefined {
  try {
    return decodeURIComponent(password);
  } catch {
    return undefined;
  }
}

/** Drops the line break that editors and `echo` write after the password. */
function readPassword(path: string): string | undefined {
  try {
    const password = readFileSync(path, "utf8").replace(/\r?\n$/, "");
    return password === "" ? undefined : password;
  } catch {
    return undefined;
  }
}

/** The environment without a login's URL and password, for a child process that must not have it. */
export function withoutLogin(
  env: NodeJS.ProcessEnv,
  login: "DATABASE_MAINTENANCE" | "DATABASE_OWNER",
): NodeJS.ProcessEnv {
  const { [`${login}_URL`]: _, [`${login}_PASSWORD`]: __, [`${login}_PASSWORD_FILE`]: ___, ...kept } = env;
  return kept;
}
