/** What the steps of an embedded start share. */
import type { Config } from "../config/config.ts";
import type { Supervisor } from "./processes/supervise.ts";

export interface Session {
  readonly config: Config;
  readonly supervisor: Supervisor;
  readonly cacheDir: string;
  readonly stop: AbortSignal;
  /** The environment that the user set, for our programs. */
  readonly inherited: NodeJS.ProcessEnv;
  /** True for `npm run dev`: the API and the worker are restarted after each edit of `src/`. */
  readonly isDev: boolean;
  readonly progress: (line: string) => void;
}
