import { Button, Checkbox, Group, Menu, Paper, Stack, TagsInput, Text, TextInput } from "@mantine/core";
import type { ReactNode } from "react";
import { useMessages } from "../../messages/messages.ts";
import type { FormProps } from "./agent-form.tsx";
import { messages } from "./tool-messages.ts";
import {
  type Attachment,
  MAX_TOOLS,
  type Problem,
  TOOLS,
  type ToolId,
  problemsOf,
  textsOf,
} from "./tools.ts";

/** Tools that make sense more than once: each with a server of its own. */
const REPEATABLE: ReadonlySet<string> = new Set<ToolId>(["mcp"]);

/** The tools that the model may call, each with what narrows its reach. */
export function ToolList({ fields, onChange, problems, isReadOnly }: FormProps): ReactNode {
  const texts = useMessages(messages);
  const tools = fields.tool_attachments;
  const set = (next: readonly Attachment[]): void => onChange({ tool_attachments: [...next] });
  const offered = TOOLS.filter((id) => REPEATABLE.has(id) || tools.every((tool) => tool.tool_id !== id));
  const ofAll = problems["tool_attachments"];
  return (
    <Stack gap="sm">
      {tools.length === 0 && <Text size="sm">{texts.none}</Text>}
      {tools.map((tool, index) => (
        <Tool
          // Tools have no identity but their place.
          key={`${index} ${tool.tool_id}`}
          tool={tool}
          refused={refusedOf(problems, index)}
          onChange={(config) => set(tools.with(index, { ...tool, config }))}
          onRemove={() => set(tools.toSpliced(index, 1))}
          isReadOnly={isReadOnly}
        />
      ))}
      {ofAll !== undefined && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {ofAll}
        </Text>
      )}
      {!isReadOnly && tools.length < MAX_TOOLS && (
        <Menu>
          <Menu.Target>
            <Button variant="default" style={{ alignSelf: "flex-start" }}>
              {texts.add}
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            {offered.map((id) => (
              <Menu.Item
                key={id}
                onClick={() => set([...tools, { tool_id: id, config: id === "mcp" ? { server: "" } : null }])}
              >
                {texts.names[id]}
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
    </Stack>
  );
}

/** What the service said of a tool, by the field of its configuration. */
function refusedOf(problems: FormProps["problems"], index: number): Readonly<Record<string, string>> {
  const start = `tool_attachments.${index}.`;
  const found = Object.entries(problems).filter(([name]) => name.startsWith(start));
  return Object.fromEntries(
    found.map(([name, text]) => [name.slice(start.length).split(".")[1] ?? "config", text]),
  );
}

interface ToolProps {
  readonly tool: Attachment;
  readonly refused: Readonly<Record<string, string>>;
  readonly onChange: (config: NonNullable<Attachment["config"]> | null) => void;
  readonly onRemove: () => void;
  readonly isReadOnly: boolean;
}

function Tool(props: ToolProps): ReactNode {
  const texts = useMessages(messages);
  const { tool, refused, onRemove, isReadOnly } = props;
  const names: Readonly<Record<string, string>> = texts.names;
  const name = names[tool.tool_id] ?? tool.tool_id;
  const found = problemsOf(tool);
  const sayOf = (field: string): string | undefined =>
    found[field] === undefined ? refused[field] : say(found[field], texts.problems);
  const ofConfig = sayOf("config");
  return (
    <Paper withBorder p="sm" role="group" aria-label={name}>
      <Stack gap="xs">
        <Group justify="space-between">
          <Text fw={600}>{name}</Text>
          {!isReadOnly && (
            <Button size="compact-sm" variant="default" aria-label={texts.remove(name)} onClick={onRemove}>
              ✕
            </Button>
          )}
        </Group>
        {tool.tool_id === "http_fetch" && <Hosts {...props} sayOf={sayOf} />}
        {tool.tool_id === "mcp" && <Server {...props} sayOf={sayOf} />}
        {ofConfig !== undefined && (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            {ofConfig}
          </Text>
        )}
      </Stack>
    </Paper>
  );
}

interface ConfigProps extends ToolProps {
  readonly sayOf: (field: string) => string | undefined;
}

function Hosts({ tool: { config }, onChange, sayOf }: ConfigProps): ReactNode {
  const texts = useMessages(messages);
  const isNarrow = config !== null && config !== undefined;
  return (
    <>
      <Checkbox
        label={texts.narrow}
        checked={isNarrow}
        onChange={(event) => onChange(event.currentTarget.checked ? { hosts: [] } : null)}
      />
      {isNarrow && (
        <TagsInput
          label={texts.hosts}
          description={texts.hostsHint}
          splitChars={[",", " "]}
          acceptValueOnBlur
          value={textsOf(config["hosts"])}
          error={sayOf("hosts")}
          onChange={(hosts) => onChange({ hosts })}
        />
      )}
    </>
  );
}

function Server({ tool: { config }, onChange, sayOf }: ConfigProps): ReactNode {
  const texts = useMessages(messages);
  const given = config ?? {};
  const server = typeof given["server"] === "string" ? given["server"] : "";
  const isNarrow = given["tools"] !== null && given["tools"] !== undefined;
  return (
    <>
      <TextInput
        label={texts.server}
        description={texts.serverHint}
        required
        value={server}
        error={sayOf("server")}
        onChange={(event) => onChange({ ...given, server: event.currentTarget.value })}
      />
      <Checkbox
        label={texts.narrowTools}
        checked={isNarrow}
        onChange={(event) => onChange({ ...given, server, tools: event.currentTarget.checked ? [] : null })}
      />
      {isNarrow && (
        <TagsInput
          label={texts.tools}
          splitChars={[",", " "]}
          acceptValueOnBlur
          value={textsOf(given["tools"])}
          error={sayOf("tools")}
          onChange={(tools) => onChange({ ...given, server, tools })}
        />
      )}
    </>
  );
}

type Texts = ReturnType<typeof useMessages<typeof messages.en>>["problems"];

function say(problem: Problem, texts: Texts): string {
  if ("value" in problem && problem.code !== "long") return texts[problem.code](problem.value);
  return "most" in problem ? texts[problem.code](problem.most) : texts[problem.code];
}
