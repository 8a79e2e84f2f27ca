/**
 * Reads the Dockerfile strictly: an instruction, flag or form that the tests do not carry out is refused, so
 * that none is ignored.
 */
import { DockerfileParser, type Instruction, ModifiableInstruction } from "dockerfile-ast";

export type Step =
  | { readonly kind: "run"; readonly command: string }
  | {
      readonly kind: "copy";
      readonly from: string | undefined;
      readonly sources: readonly string[];
      readonly target: string;
    };

export interface Stage {
  /** `""` if it has none. */
  readonly name: string;
  readonly base: string;
  readonly steps: readonly Step[];
  readonly env: Readonly<Record<string, string>>;
  /** An absolute path. */
  readonly workdir: string;
  readonly user: string;
  readonly volumes: readonly string[];
  readonly command: readonly string[];
}

type Building = { -readonly [Key in keyof Stage]: Stage[Key] };

/** @throws Error that names the line that it does not know */
export function readDockerfile(text: string): Stage[] {
  const stages: Building[] = [];
  const args: Record<string, string> = {};
  for (const instruction of DockerfileParser.parse(text).getInstructions()) {
    const words = instruction.getArguments().map((one) => one.getValue());
    const keyword = instruction.getKeyword();
    if (keyword === "ARG" && stages.length === 0) {
      const [name, value] = split(words[0] ?? "", instruction);
      args[name] = value;
    } else if (keyword === "FROM") stages.push(newStage(words, args, instruction));
    else {
      const stage = stages.at(-1);
      const act = ACTS[keyword];
      if (stage === undefined || act === undefined) throw unknown(instruction);
      act(stage, words, instruction);
    }
  }
  return stages;
}

const ACTS: Record<string, (stage: Building, words: string[], instruction: Instruction) => void> = {
  WORKDIR(stage, [path = "", ...more], instruction) {
    if (!path.startsWith("/") || more.length > 0) throw unknown(instruction);
    stage.workdir = path;
  },
  RUN(stage, words, instruction) {
    if (flagsOf(instruction).length > 0 || words[0]?.startsWith("[") === true) throw unknown(instruction);
    stage.steps = [...stage.steps, { kind: "run", command: instruction.getArgumentsContent() ?? "" }];
  },
  COPY(stage, words, instruction) {
    const [flag, ...more] = flagsOf(instruction);
    if (
      more.length > 0 ||
      (flag !== undefined && flag.name !== "from") ||
      words.length < 2 ||
      words.some((word) => /[*?[\]$]/.test(word))
    )
      throw unknown(instruction);
    stage.steps = [
      ...stage.steps,
      { kind: "copy", from: flag?.value, sources: words.slice(0, -1), target: words.at(-1)! },
    ];
  },
  ENV(stage, words, instruction) {
    stage.env = { ...stage.env, ...Object.fromEntries(words.map((word) => split(word, instruction))) };
  },
  USER(stage, [user = ""]) {
    stage.user = user;
  },
  VOLUME(stage, words, instruction) {
    if (words.some((word) => !word.startsWith("/"))) throw unknown(instruction);
    stage.volumes = [...stage.volumes, ...words];
  },
  EXPOSE() {
    // These are information for people and change nothing.
  },
  CMD(stage, _words, instruction) {
    const command: unknown = JSON.parse(instruction.getArgumentsContent() ?? "");
    if (!Array.isArray(command) || !command.every((word) => typeof word === "string"))
      throw unknown(instruction);
    stage.command = command;
  },
};

function newStage(
  words: readonly string[],
  args: Readonly<Record<string, string>>,
  instruction: Instruction,
): Building {
  const [image = "", as, name = "", ...more] = words;
  if ((as !== undefined && as.toUpperCase() !== "AS") || more.length > 0) throw unknown(instruction);
  const base = image.replaceAll(/\$\{(\w+)\}/g, (_, arg: string) => {
    if (args[arg] === undefined) throw unknown(instruction);
    return args[arg];
  });
  return { name, base, steps: [], env: {}, workdir: "/", user: "root", volumes: [], command: [] };
}

function flagsOf(
  instruction: Instruction,
): Array<{ readonly name: string; readonly value: string | undefined }> {
  if (!(instruction instanceof ModifiableInstruction)) throw unknown(instruction);
  return instruction
    .getFlags()
    .map((flag) => ({ name: flag.getName(), value: flag.getValue() ?? undefined }));
}

function split(word: string, instruction: Instruction): [string, string] {
  const at = word.indexOf("=");
  if (at < 1 || word.includes("$")) throw unknown(instruction);
  return [word.slice(0, at), word.slice(at + 1)];
}

function unknown(instruction: Instruction): Error {
  return new Error(
    `line ${instruction.getRange().start.line + 1}: the tests of the image do not know ` +
      `${instruction.getInstruction()} in this form`,
  );
}
