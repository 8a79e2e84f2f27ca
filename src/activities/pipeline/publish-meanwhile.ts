/** The only place that embeds and publishes members of a group while others of it are still prepared: no document waits for a slower one. */
import { embedAndPublish } from "./embed-and-publish.ts";
import type { StepInput } from "./attempt.ts";
import type { PipelineDeps } from "./pipeline-deps.ts";

/** Members that are ready so soon after each other go on together; where all of a group are, the next activity takes them. */
const TOGETHER_MS = 100;

interface Meanwhile {
  /** Says that members were prepared. */
  ready(): void;
  /**
   * Says that the last member was prepared. Where a pass is still under way those behind it go on here too, since the next activity could begin
   * only after it. Resolves when all passes have ended; never rejects, since what they leave the next activity takes.
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
          "members that were ready could not be published yet",
        ),
      );
    passes.add(pass);
    void pass.finally(() => passes.delete(pass));
  };
  return {
    ready: () => void (timer ??= setTimeout(begin, TOGETHER_MS)),
    async end() {
      const isOwed = timer !== undefined;
      clearTimeout(timer);
      if (isOwed && passes.size > 0) begin();
      await Promise.all(passes);
    },
  };
}
