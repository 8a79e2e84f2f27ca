import type { Schemas } from "@holdfast/client";
import { Anchor, Stack, Text, Timeline, Title } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useHoldfast } from "../../app/context.ts";
import { useFormats } from "../../messages/formats.ts";
import { useMessages } from "../../messages/messages.ts";
import { QueryView } from "../../parts/query-view.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { Attempts } from "./attempts.tsx";
import { messages } from "./messages.ts";
import { runQuery, versionsQuery } from "./queries.ts";

type Version = Schemas["Version"];

/** So many runs are shown, the newest first. */
const SHOWN = 20;

/** What the service did with the document, run by run. */
export function Runs({ documentId }: { readonly documentId: string }): ReactNode {
  const holdfast = useHoldfast();
  const versions = useQuery(versionsQuery(holdfast, documentId));
  return (
    <QueryView query={versions}>
      {({ items }) => (
        <Stack gap="xl">
          {items.slice(0, SHOWN).map((version) => (
            <Run key={version.pipeline_run_id} version={version} />
          ))}
        </Stack>
      )}
    </QueryView>
  );
}

function Run({ version }: { readonly version: Version }): ReactNode {
  const texts = useMessages(messages).runs;
  const formats = useFormats();
  const holdfast = useHoldfast();
  const { data: run } = useQuery(runQuery(holdfast, version.pipeline_run_id));
  const { created_at: created, started_at: started, completed_at: completed, error } = version;
  const made = [
    version.parser_name === null ? undefined : texts.parser(version.parser_name),
    version.chunker_name === null ? undefined : texts.chunker(version.chunker_name),
    version.embedding_model === null ? undefined : texts.model(version.embedding_model),
  ].filter((text) => text !== undefined);
  return (
    <section>
      <Title order={2} size="h5" mb="sm">
        {texts.title(version.version)} <StatusBadge status={version.status} />
      </Title>
      <Timeline active={completed === null ? (started === null ? 0 : 1) : 2} bulletSize={14} lineWidth={2}>
        <Timeline.Item title={texts.queued}>
          <Text size="sm">{formats.time(created)}</Text>
          {run !== undefined && run.queue_position !== null && (
            <Text size="sm">{texts.position(run.queue_position)}</Text>
          )}
        </Timeline.Item>
        <Timeline.Item title={texts.started}>
          {started !== null && <Text size="sm">{formats.time(started)}</Text>}
          <Text size="sm" c="dimmed">
            {made.join(" · ")}
          </Text>
          {run?.waiting !== undefined && run.waiting !== null && (
            <Text size="sm">{texts.waits(run.waiting.code, formats.ago(run.waiting.since))}</Text>
          )}
        </Timeline.Item>
        <Timeline.Item title={texts.ended}>
          {completed !== null && (
            <Text size="sm">
              {formats.time(completed)}
              {started !== null &&
                ` · ${texts.took(formats.duration(Date.parse(completed) - Date.parse(started)))}`}
            </Text>
          )}
          {error !== null && (
            <Text size="sm">
              {error.message}{" "}
              <Anchor href={`/docs/errors/${error.code}`} target="_blank" size="sm" underline="always">
                {texts.help}
              </Anchor>
            </Text>
          )}
        </Timeline.Item>
      </Timeline>
      <Attempts runId={version.pipeline_run_id} />
    </section>
  );
}
