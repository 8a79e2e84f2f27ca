import type { Schemas } from "@holdfast/client";
import { Code, Stack, Text, Timeline } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { answerOf } from "../../api/client.ts";
import { keyOf } from "../../api/keys.ts";
import { useHoldfast } from "../../app/context.ts";
import { useFormats } from "../../messages/formats.ts";
import { useMessages } from "../../messages/messages.ts";
import { Bidi } from "../../parts/bidi.tsx";
import { QueryView } from "../../parts/query-view.tsx";
import { messages } from "./messages.ts";
import type { Field } from "./values.ts";

type Change = Schemas["AgentChange"];

const SHOWN = 100;

/** Who changed what of an agent, the newest first. */
export function History({ agentId }: { readonly agentId: string }): ReactNode {
  const texts = useMessages(messages).history;
  const { api } = useHoldfast();
  const history = useQuery({
    queryKey: keyOf("agents", agentId, "history"),
    queryFn: () =>
      answerOf(
        api.GET("/v1/agents/{agent_id}/history", {
          params: { path: { agent_id: agentId }, query: { limit: SHOWN } },
        }),
      ),
  });
  return (
    <QueryView query={history}>
      {({ items }) =>
        items.length === 0 ? (
          <Text>{texts.none}</Text>
        ) : (
          <Timeline bulletSize={12} lineWidth={2}>
            {items.map((change) => (
              <Entry key={`${change.version} ${change.at}`} change={change} />
            ))}
          </Timeline>
        )
      }
    </QueryView>
  );
}

function Entry({ change }: { readonly change: Change }): ReactNode {
  const { history, fields } = useMessages(messages);
  const formats = useFormats();
  const { by, action, at, version, changes } = change;
  const labelOf = (field: string): string => (field in fields ? fields[field as Field] : field);
  return (
    <Timeline.Item
      title={
        <>
          <Bidi>{by?.name ?? history.somebody}</Bidi> {history[action]} · {version}
        </>
      }
    >
      <Text size="sm" c="dimmed">
        {formats.time(at)}
      </Text>
      <Stack gap="xs">
        {changes.map(({ field, before, after }) => (
          <div key={field}>
            <Text size="sm" fw={600}>
              {labelOf(field)}
            </Text>
            <Text size="sm" component="div" dir="auto">
              {history.before}: <Code>{shown(before)}</Code>
            </Text>
            <Text size="sm" component="div" dir="auto">
              {history.after}: <Code>{shown(after)}</Code>
            </Text>
          </div>
        ))}
      </Stack>
    </Timeline.Item>
  );
}

const shown = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
