/** Embeds and publishes members of a claim while others are prepared: none waits for a slower one. */
import { embedAndPublish } from "./embed-and-publish.ts";
import type { StepInput } from "./attempt.ts";
import type { PipelineDeps } from "./pipeline-deps.ts";

/** Members that become ready within this time go on together. If all do, the next activity takes them. */
const TOGETHER_MS = 100;

interface Meanwhile {
  /** Call it when a member was prepared. */
  ready(): void;
  /**
   * Call it when the last member was prepared. If a pass is still running, waiting members get a pass of
   * their own here, because the next activity begins only after this one. Resolves when all passes have
   * ended. Never rejects: the next activity takes what they left.
   */
  end(): Promise<void>;
}

export function publishMeanwhile(deps: PipelineDeps, input: StepInput): Meanwhile {
  const passes = new Set<Promise<void>>();
  let timer: NodeJS.Timeout | undefined;
  const begin = (): void => {
    timer = undefined;
    const pass = embedAndPublish(deps, { ...input, lost: false, onlyFree: true })
      .then(() => undefined)
      .catch((error: unknown) =>
        deps.log.warn(
          { err: error, claim_id: input.claimId },
          "documents that were ready could not be published yet",
        ),
      );
    passes.add(pass);
    void pass.finally(() => passes.delete(pass));
  };
  return {
    ready() {
      timer ??= setTimeout(begin, TOGETHER_MS);
    },
    async end() {
      const isScheduled = timer !== undefined;
      clearTimeout(timer);
      if (isScheduled && passes.size > 0) begin();
      await Promise.all(passes);
    },
  };
}
