import { Anchor, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useConsole, useRoles } from "../../app/context.ts";
import { useFormats } from "../../messages/formats.ts";
import { useMessages } from "../../messages/messages.ts";
import { messages } from "./messages.ts";
import { attemptsQuery } from "./queries.ts";

/** What was tried for a run, and how each attempt ended; operators go on to the workflow in Temporal. */
export function Attempts({ runId }: { readonly runId: string }): ReactNode {
  const texts = useMessages(messages).attempts;
  const formats = useFormats();
  const { holdfast } = useConsole();
  const { data } = useQuery(attemptsQuery(holdfast, runId));
  const attempts = data?.items ?? [];
  if (attempts.length === 0) return null;
  return (
    <Table.ScrollContainer minWidth={480} maw={760}>
      <Table fz="sm" captionSide="top">
        <Table.Caption ta="start">{texts.title}</Table.Caption>
        <Table.Tbody>
          {attempts.map(
            ({ attempt, step, started_at: started, ended_at: ended, outcome, code, workflow_id: id }) => (
              <Table.Tr key={attempt}>
                <Table.Td>{attempt}</Table.Td>
                <Table.Td>{texts.steps[step]}</Table.Td>
                <Table.Td>{formats.time(started)}</Table.Td>
                <Table.Td>
                  {ended !== null && formats.duration(Date.parse(ended) - Date.parse(started))}
                </Table.Td>
                <Table.Td>
                  {texts.outcomes[outcome]}
                  {code !== null && (
                    <Anchor href={`/docs/errors/${code}`} target="_blank" size="sm" underline="always" ms={6}>
                      {code}
                    </Anchor>
                  )}
                </Table.Td>
                <Table.Td>{id !== null && <TemporalLink workflowId={id} />}</Table.Td>
              </Table.Tr>
            ),
          )}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function TemporalLink({ workflowId }: { readonly workflowId: string }): ReactNode {
  const texts = useMessages(messages).runs;
  const { isOperator } = useRoles();
  const { temporal_ui: address, temporal_namespace: namespace } = useConsole().configuration;
  if (!isOperator || address === null) return <Text span />;
  const path = `/namespaces/${namespace ?? "default"}/workflows/${encodeURIComponent(workflowId)}`;
  return (
    <Anchor href={new URL(path, address).href} target="_blank" rel="noreferrer" size="sm" underline="always">
      {texts.temporal}
    </Anchor>
  );
}
