import { Alert, Table, Text, Title } from "@mantine/core";
import type { Schemas } from "@holdfast/client";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useHoldfast } from "../../app/context.ts";
import { useFormats } from "../../messages/formats.ts";
import { useMessages } from "../../messages/messages.ts";
import { StateBadge } from "../../parts/lists/state-badge.tsx";
import { WideTable } from "../../parts/lists/wide-table.tsx";
import { QueryView } from "../../parts/query-view.tsx";
import { Ago } from "../../parts/time.tsx";
import { messages } from "./messages.ts";
import { queuesQuery } from "./queries.ts";
import { Id, Section } from "./section.tsx";

const SECOND_MS = 1_000;

/** How much waits in the task queues and who polls them, and what was accepted and is not done. */
export function Queues(): ReactNode {
  const texts = useMessages(messages).queues;
  const query = useQuery(queuesQuery(useHoldfast()));
  return (
    <Section title={texts.title}>
      <QueryView query={query}>
        {({ workflows_reachable: isReachable, task_queues: queues, outbox }) => (
          <>
            {isReachable ? (
              <TaskQueues queues={queues} />
            ) : (
              <Alert color="red" variant="light">
                {texts.unreachable}
              </Alert>
            )}
            <Outbox outbox={outbox} />
          </>
        )}
      </QueryView>
    </Section>
  );
}

function TaskQueues({ queues }: { readonly queues: ReadonlyArray<Schemas["TaskQueue"]> }): ReactNode {
  const texts = useMessages(messages).queues;
  const { columns } = texts;
  const formats = useFormats();
  if (queues.length === 0) return <Text>{texts.none}</Text>;
  return (
    <WideTable
      label={texts.title}
      columns={[columns.queue, columns.type, columns.backlog, columns.age, columns.pollers]}
    >
      {queues.map((queue) => (
        <Table.Tr key={`${queue.queue} ${queue.type}`}>
          <Table.Td>{queue.queue}</Table.Td>
          <Table.Td>{texts.types[queue.type]}</Table.Td>
          <Table.Td>{formats.number(queue.backlog)}</Table.Td>
          <Table.Td>{queue.backlog > 0 && formats.duration(queue.backlog_age_seconds * SECOND_MS)}</Table.Td>
          <Table.Td>
            {queue.poller_count === 0 && (
              <StateBadge color={queue.backlog > 0 ? "red" : "gray"}>{texts.nobody}</StateBadge>
            )}
            {queue.pollers.map((identity) => (
              <Id key={identity}>{identity}</Id>
            ))}
            {queue.poller_count > queue.pollers.length && `+${queue.poller_count - queue.pollers.length}`}
          </Table.Td>
        </Table.Tr>
      ))}
    </WideTable>
  );
}

function Outbox({ outbox }: { readonly outbox: ReadonlyArray<Schemas["OutboxState"]> }): ReactNode {
  const texts = useMessages(messages).queues;
  const { outboxColumns: columns } = texts;
  const formats = useFormats();
  return (
    <>
      <Title order={3} size="h5" mt="md">
        {texts.outbox}
      </Title>
      <WideTable
        label={texts.outbox}
        minWidth={480}
        columns={[columns.kind, columns.waiting, columns.under_way, columns.oldest]}
      >
        {outbox.map(({ kind, waiting, under_way: underWay, oldest_at: oldest }) => (
          <Table.Tr key={kind}>
            <Table.Td>{texts.kinds[kind]}</Table.Td>
            <Table.Td>{formats.number(waiting)}</Table.Td>
            <Table.Td>{formats.number(underWay)}</Table.Td>
            <Table.Td>{oldest !== null && <Ago at={oldest} />}</Table.Td>
          </Table.Tr>
        ))}
      </WideTable>
    </>
  );
}
