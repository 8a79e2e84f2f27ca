/** The console's build, as a service's user runs it who owns none of the program's files. */
import { execFile } from "node:child_process";
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, expect, test } from "vitest";
import type { Listing } from "../../../src/api/site/listing.ts";
import { UNLESS_ROOT } from "../../support/run/unless.ts";

const UNPRIVILEGED = 65_534;
const MODULE = join(import.meta.dirname, "../../../scripts/console/build.ts");
const folder = mkdtempSync(join(tmpdir(), "holdfast-build-"));
chmodSync(folder, 0o755);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** @returns whether a user without privileges can read the program at all */
async function canRead(): Promise<boolean> {
  const options = { uid: UNPRIVILEGED, gid: UNPRIVILEGED, cwd: "/" };
  return promisify(execFile)(process.execPath, ["--check", MODULE], options).then(
    () => true,
    () => false,
  );
}

test("it writes into the folder that it is given and nowhere else", UNLESS_ROOT, async (context) => {
  if (!(await canRead())) context.skip("the code is where other users cannot read it");
  chownSync(folder, UNPRIVILEGED, UNPRIVILEGED);
  const place = join(folder, "console-1");
  const code = `import(${JSON.stringify(MODULE)}).then(({ buildConsole }) =>
    buildConsole([${JSON.stringify(place)}], new AbortController().signal)).then(console.log)`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--eval", code], {
    cwd: "/",
    env: { NODE_ENV: "production" },
    uid: UNPRIVILEGED,
    gid: UNPRIVILEGED,
  });
  expect(stdout.trim()).toBe(place);
  const files = JSON.parse(readFileSync(join(place, "files.json"), "utf8")) as Listing;
  expect(files[""]).toMatchObject({ type: "text/html; charset=utf-8", isHashed: false });
  expect(Object.keys(files).filter((path) => path.endsWith(".js")).length).toBeGreaterThan(1);
});
