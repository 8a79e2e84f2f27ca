import {
  Checkbox,
  Fieldset,
  Group,
  MultiSelect,
  NativeSelect,
  NumberInput,
  Stack,
  Textarea,
  TextInput,
} from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { keyOf } from "../../api/keys.ts";
import { useHoldfast } from "../../app/context.ts";
import { useMessages } from "../../messages/messages.ts";
import { messages } from "./messages.ts";
import { CONFIGURED, type ConfigProblem, TOOLS, problemOf, readConfig } from "./tool-config.ts";
import type { Values } from "./values.ts";

interface Props {
  readonly values: Values;
  /** The folders to choose from are those of this space. */
  readonly spaceId: string | undefined;
  /** What the service says of each field. */
  readonly errors: Readonly<Record<string, string>>;
  readonly isReadOnly: boolean;
  readonly onChange: (values: Values) => void;
}

/** Every field of an agent. */
export function AgentForm({ values, spaceId, errors, isReadOnly, onChange }: Props): ReactNode {
  const texts = useMessages(messages);
  const { fields } = texts;
  const set = (change: Partial<Values>): void => onChange({ ...values, ...change });
  return (
    <Fieldset variant="unstyled" disabled={isReadOnly}>
      <Stack>
        <TextInput
          label={fields.name}
          value={values.name}
          onChange={(event) => set({ name: event.currentTarget.value })}
          error={errors["name"]}
          required
          maxLength={255}
          dir="auto"
        />
        <TextInput
          label={fields.description}
          description={fields.descriptionHint}
          value={values.description}
          onChange={(event) => set({ description: event.currentTarget.value })}
          error={errors["description"]}
          maxLength={4_000}
          dir="auto"
        />
        <Textarea
          label={fields.system_prompt}
          description={fields.systemPromptHint}
          value={values.system_prompt}
          onChange={(event) => set({ system_prompt: event.currentTarget.value })}
          error={errors["system_prompt"]}
          autosize
          minRows={4}
          maxRows={20}
          maxLength={100_000}
          dir="auto"
        />
        <NativeSelect
          label={fields.agent_type}
          data={(["rag", "simple"] as const).map((value) => ({ value, label: texts.types[value] }))}
          value={values.agent_type}
          onChange={(event) => set({ agent_type: event.currentTarget.value as Values["agent_type"] })}
        />
        <NativeSelect
          label={fields.data_access_mode}
          data={(["origin", "caller", "none"] as const).map((value) => ({
            value,
            label: texts.access[value],
          }))}
          value={values.data_access_mode}
          onChange={(event) =>
            set({ data_access_mode: event.currentTarget.value as Values["data_access_mode"] })
          }
        />
        {values.data_access_mode === "origin" && (
          <Folders spaceId={spaceId} values={values} error={errors["allowed_folder_ids"]} set={set} />
        )}
        <Tools values={values} errors={errors} set={set} />
        <Model values={values} errors={errors} set={set} />
        <JsonField
          label={fields.reasoning_config}
          value={values.reasoning_config}
          error={errors["reasoning_config"]}
          onChange={(config) => set({ reasoning_config: config })}
        />
        {(["is_public", "show_citations", "require_support", "save_to_inbox"] as const).map((field) => (
          <Checkbox
            key={field}
            label={fields[field]}
            checked={values[field]}
            onChange={(event) => set({ [field]: event.currentTarget.checked })}
          />
        ))}
      </Stack>
    </Fieldset>
  );
}

type Config = Record<string, unknown> | null;

interface JsonProps {
  readonly label: string;
  readonly description?: string;
  readonly value: Config;
  readonly error: string | undefined;
  /** What is wrong with the text, as it is typed. */
  readonly check?: (text: string) => string | undefined;
  readonly onChange: (config: Config) => void;
}

function JsonField({ label, description, value, error, check, onChange }: JsonProps): ReactNode {
  const { notJson } = useMessages(messages);
  const [text, setText] = useState(() => (value === null ? "" : JSON.stringify(value)));
  const config = readConfig(text);
  return (
    <Textarea
      label={label}
      description={description}
      ff="monospace"
      value={text}
      autosize
      minRows={1}
      onChange={(event) => {
        setText(event.currentTarget.value);
        const next = readConfig(event.currentTarget.value);
        if (next !== undefined) onChange(next);
      }}
      error={config === undefined ? notJson : (check?.(text) ?? error)}
    />
  );
}

interface PartProps {
  readonly values: Values;
  readonly set: (change: Partial<Values>) => void;
}

function Model({ values, errors, set }: PartProps & { readonly errors: Props["errors"] }): ReactNode {
  const texts = useMessages(messages);
  const { fields } = texts;
  const number = (value: number | string): number | null => (typeof value === "number" ? value : null);
  return (
    <Group align="flex-end">
      <TextInput
        label={fields.model}
        value={values.model}
        onChange={(event) => set({ model: event.currentTarget.value })}
        error={errors["model"]}
        maxLength={255}
      />
      <NumberInput
        label={fields.temperature}
        placeholder={texts.modelDefault}
        value={values.temperature ?? ""}
        onChange={(value) => set({ temperature: number(value) })}
        error={errors["temperature"]}
        min={0}
        max={2}
        step={0.1}
        decimalScale={2}
      />
      <NumberInput
        label={fields.max_tokens}
        placeholder={texts.modelDefault}
        value={values.max_tokens ?? ""}
        onChange={(value) => set({ max_tokens: number(value) })}
        error={errors["max_tokens"]}
        min={1}
        max={2_000_000}
      />
    </Group>
  );
}

function Tools({ values, errors, set }: PartProps & { readonly errors: Props["errors"] }): ReactNode {
  const texts = useMessages(messages);
  const attached = values.tool_attachments;
  const explain = (problem: ConfigProblem | undefined): string | undefined => {
    if (problem === undefined) return undefined;
    if (problem.kind === "unknown") return texts.unknownField(problem.name);
    if (problem.kind === "not_json") return texts.notJson;
    return problem.kind === "hosts" ? texts.hostsWrong : texts.serverWrong;
  };
  return (
    <Fieldset legend={texts.fields.tool_attachments}>
      <Stack gap="xs">
        {TOOLS.map((tool) => {
          const at = attached.findIndex(({ tool_id: id }) => id === tool);
          const attachment = attached[at];
          const isConfigured = CONFIGURED.some((each) => each === tool);
          const error = Object.entries(errors).find(([path]) => path.startsWith(`tool_attachments.${at}.`));
          return (
            <div key={tool}>
              <Checkbox
                label={tool}
                checked={attachment !== undefined}
                onChange={(event) =>
                  set({
                    tool_attachments: event.currentTarget.checked
                      ? [...attached, { tool_id: tool, config: null }]
                      : attached.filter(({ tool_id: id }) => id !== tool),
                  })
                }
              />
              {attachment !== undefined && isConfigured && (
                <JsonField
                  label={texts.config(tool)}
                  description={texts.configHints[tool as (typeof CONFIGURED)[number]]}
                  value={(attachment.config ?? null) as Config}
                  error={error?.[1]}
                  check={(text) => explain(problemOf(tool, text))}
                  onChange={(config) =>
                    set({
                      tool_attachments: attached.map((each, index) =>
                        index === at ? { ...each, config } : each,
                      ),
                    })
                  }
                />
              )}
            </div>
          );
        })}
      </Stack>
    </Fieldset>
  );
}

interface FolderProps extends PartProps {
  readonly spaceId: string | undefined;
  readonly error: string | undefined;
}

const SHOWN_FOLDERS = 1_000;

function Folders({ spaceId, values, error, set }: FolderProps): ReactNode {
  const texts = useMessages(messages);
  const holdfast = useHoldfast();
  const { data: folders = [] } = useQuery({
    queryKey: keyOf("folders", spaceId, "of agents"),
    queryFn: async () => {
      const all = [];
      for await (const folder of holdfast.folders(spaceId!)) {
        all.push(folder);
        if (all.length === SHOWN_FOLDERS) break;
      }
      return all;
    },
    enabled: spaceId !== undefined,
  });
  const chosen = values.allowed_folder_ids ?? [];
  return (
    <MultiSelect
      label={texts.fields.allowed_folder_ids}
      placeholder={chosen.length === 0 ? texts.allFolders : ""}
      data={folders.map(({ id, name }) => ({ value: id, label: name }))}
      value={chosen}
      onChange={(ids) => set({ allowed_folder_ids: ids.length === 0 ? null : ids })}
      error={error}
      searchable
    />
  );
}
