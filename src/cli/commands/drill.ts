/** `holdfast drill`: runs the crash drill of a source checkout. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { access } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import type { Command } from "commander";
import { CommandError } from "../output.ts";

const DRILL = fileURLToPath(new URL("../../../test/drill/run.ts", import.meta.url));

export function addDrillCommand(program: Command): void {
  program
    .command("drill")
    .description(
      "crash a separate Holdfast at every step and check that nothing is lost; in a source " +
        "checkout, `holdfast drill --help` has its options",
    )
    .argument("[options...]", "passed to the drill")
    .allowUnknownOption()
    .helpOption(false)
    .action(runDrill);
}

/** @throws CommandError in an image, which lacks the tests */
async function runDrill(options: readonly string[]): Promise<void> {
  const isHere = await access(DRILL).then(
    () => true,
    () => false,
  );
  if (!isHere)
    throw new CommandError(
      "The drill needs a source checkout with its development packages: it starts its own servers and " +
        "is not part of the image. Run it in a checkout.",
    );
  const child = spawn(process.execPath, [DRILL, ...options], { stdio: "inherit" });
  const [code] = (await once(child, "exit")) as [number | null];
  process.exitCode = code ?? 1;
}
