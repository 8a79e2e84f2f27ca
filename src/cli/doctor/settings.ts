/** Checks of the settings, which all other checks need. */
import { type Config, ConfigError, loadConfig } from "../../config/config.ts";
import { type Finding, fail, ok, warn } from "./check.ts";

interface SettingsFound {
  /** Undefined if they cannot be used. */
  readonly config: Config | undefined;
  readonly findings: readonly Finding[];
}

/** @param unknownSettings a line for each variable like a setting of ours, with the nearest known name. */
export function checkSettings(
  env: NodeJS.ProcessEnv,
  unknownSettings: (env: NodeJS.ProcessEnv) => readonly string[],
): SettingsFound {
  const unknown = unknownSettings(env).map((line) => warn(line, "correct the name, or remove it"));
  try {
    const config = loadConfig(env);
    return {
      config,
      findings: unknown.length > 0 ? unknown : [ok(`valid (NODE_ENV is ${config.environment})`)],
    };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return {
      config: undefined,
      findings: [
        ...error.problems.map((problem) => fail(problem, "correct it; docs/settings.md lists the settings")),
        ...unknown,
      ],
    };
  }
}
