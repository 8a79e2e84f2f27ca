import {
  Checkbox,
  Fieldset,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  TextInput,
  Textarea,
} from "@mantine/core";
import type { ReactNode } from "react";
import { useMessages } from "../../messages/messages.ts";
import type { Field, Fields } from "./fields.ts";
import { FolderChoice } from "./folder-choice.tsx";
import { messages } from "./messages.ts";
import { Reasoning } from "./reasoning.tsx";
import { ToolList } from "./tool-list.tsx";

const MOST_TOKENS = 2_000_000;
const LONGEST_PROMPT = 100_000;
const LONGEST_DESCRIPTION = 4_000;
const LONGEST_NAME = 255;

export interface FormProps {
  readonly fields: Fields;
  readonly onChange: (part: Partial<Fields>) => void;
  /** What the service or the browser has against a field, by its name. */
  readonly problems: Readonly<Record<string, string>>;
  readonly spaceId: string;
  readonly isReadOnly: boolean;
  /** Whether what was typed for reasoning is a JSON object. */
  readonly onReasoningValid: (isValid: boolean) => void;
}

/** Every field of an agent. */
export function AgentForm(props: FormProps): ReactNode {
  const texts = useMessages(messages);
  const { fields, onChange, problems, isReadOnly } = props;
  return (
    <Stack>
      <Fieldset legend={texts.parts.what} disabled={isReadOnly}>
        <Stack gap="sm">
          <TextInput
            label={texts.fields.name}
            dir="auto"
            required
            maxLength={LONGEST_NAME}
            value={fields.name}
            error={problems["name"]}
            onChange={(event) => onChange({ name: event.currentTarget.value })}
          />
          <Textarea
            label={texts.fields.description}
            description={texts.hints.description}
            dir="auto"
            autosize
            maxRows={6}
            maxLength={LONGEST_DESCRIPTION}
            value={fields.description}
            error={problems["description"]}
            onChange={(event) => onChange({ description: event.currentTarget.value })}
          />
        </Stack>
      </Fieldset>
      <Answers {...props} />
      <Fieldset legend={texts.parts.reach} disabled={isReadOnly}>
        <Stack gap="sm">
          <Select
            label={texts.fields.data_access_mode}
            allowDeselect={false}
            data={Object.entries(texts.modes).map(([value, label]) => ({ value, label }))}
            value={fields.data_access_mode}
            error={problems["data_access_mode"]}
            onChange={(mode) =>
              mode !== null && onChange({ data_access_mode: mode as Fields["data_access_mode"] })
            }
          />
          {fields.data_access_mode !== "none" && <FolderChoice {...props} />}
        </Stack>
      </Fieldset>
      <Fieldset legend={texts.parts.tools} disabled={isReadOnly}>
        <ToolList {...props} />
      </Fieldset>
      <Fieldset legend={texts.parts.sharing} disabled={isReadOnly}>
        <Flags {...props} names={["is_public", "save_to_inbox"]} />
      </Fieldset>
    </Stack>
  );
}

function Answers(props: FormProps): ReactNode {
  const texts = useMessages(messages);
  const { fields, onChange, problems, isReadOnly, onReasoningValid } = props;
  return (
    <Fieldset legend={texts.parts.answers} disabled={isReadOnly}>
      <Stack gap="sm">
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <Select
            label={texts.fields.agent_type}
            allowDeselect={false}
            data={Object.entries(texts.types).map(([value, label]) => ({ value, label }))}
            value={fields.agent_type}
            error={problems["agent_type"]}
            onChange={(type) => type !== null && onChange({ agent_type: type as Fields["agent_type"] })}
          />
          <TextInput
            label={texts.fields.model}
            description={texts.hints.model}
            inputWrapperOrder={["label", "input", "description", "error"]}
            value={fields.model}
            error={problems["model"]}
            onChange={(event) => onChange({ model: event.currentTarget.value })}
          />
        </SimpleGrid>
        <Textarea
          label={texts.fields.system_prompt}
          description={texts.hints.system_prompt}
          dir="auto"
          autosize
          minRows={4}
          maxRows={20}
          maxLength={LONGEST_PROMPT}
          value={fields.system_prompt}
          error={problems["system_prompt"]}
          onChange={(event) => onChange({ system_prompt: event.currentTarget.value })}
        />
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <NumberInput
            label={texts.fields.temperature}
            description={texts.hints.temperature}
            min={0}
            max={2}
            step={0.1}
            value={fields.temperature ?? ""}
            error={problems["temperature"]}
            onChange={(value) => onChange({ temperature: numberOf(value) })}
          />
          <NumberInput
            label={texts.fields.max_tokens}
            description={texts.hints.max_tokens}
            min={1}
            max={MOST_TOKENS}
            allowDecimal={false}
            value={fields.max_tokens ?? ""}
            error={problems["max_tokens"]}
            onChange={(value) => onChange({ max_tokens: numberOf(value) })}
          />
        </SimpleGrid>
        <Reasoning
          value={fields.reasoning_config}
          problem={problems["reasoning_config"]}
          onValid={onReasoningValid}
          onChange={(config) => onChange({ reasoning_config: config })}
        />
        <Flags {...props} names={["show_citations", "require_support"]} />
      </Stack>
    </Fieldset>
  );
}

type Flag = Extract<Field, "show_citations" | "require_support" | "is_public" | "save_to_inbox">;

function Flags({
  fields,
  problems,
  onChange,
  names,
}: FormProps & { readonly names: readonly Flag[] }): ReactNode {
  const texts = useMessages(messages);
  const hints: Readonly<Partial<Record<Field, string>>> = texts.hints;
  return (
    <Stack gap="sm">
      {names.map((name) => (
        <Checkbox
          key={name}
          label={texts.fields[name]}
          description={hints[name]}
          // It has no effect without the list of citations.
          disabled={name === "require_support" && !fields.show_citations}
          checked={fields[name]}
          error={problems[name]}
          onChange={(event) => onChange({ [name]: event.currentTarget.checked })}
        />
      ))}
    </Stack>
  );
}

/** Text that is no number yet counts as none. */
const numberOf = (value: number | string): number | null =>
  value === "" || !Number.isFinite(Number(value)) ? null : Number(value);
