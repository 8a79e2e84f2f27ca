/** How provisioning fails. */
import { ExpectedFailure } from "../expected-failure.ts";

/** All mistakes of the file, each like `organizations[0].users[1].email: is missing`. Nothing was changed. */
export class ProvisionError extends ExpectedFailure {
  readonly mistakes: readonly string[];

  constructor(mistakes: readonly string[]) {
    super(
      `The provisioning file cannot be applied:\n${mistakes.map((mistake) => `  ${mistake}`).join("\n")}`,
    );
    this.name = "ProvisionError";
    this.mistakes = mistakes;
  }
}
