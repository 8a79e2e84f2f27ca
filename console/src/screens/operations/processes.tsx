import { Table, Text, Title } from "@mantine/core";
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
import { processesQuery } from "./queries.ts";
import { Id, Section } from "./section.tsx";

/** The API and worker processes, and the answers that API processes have under way. */
export function Processes(): ReactNode {
  const texts = useMessages(messages).processes;
  const { columns } = texts;
  const query = useQuery(processesQuery(useHoldfast()));
  return (
    <Section title={texts.title}>
      <QueryView query={query}>
        {({ processes, turn_leases: leases }) => (
          <>
            {processes.length === 0 && <Text>{texts.none}</Text>}
            {processes.length > 0 && (
              <WideTable
                label={texts.title}
                minWidth={800}
                columns={[
                  columns.kind,
                  columns.state,
                  columns.version,
                  columns.since,
                  columns.seen,
                  columns.queues,
                ]}
              >
                {processes.map((process) => (
                  <Row key={process.id ?? process.identity} process={process} />
                ))}
              </WideTable>
            )}
            {leases.length > 0 && <Leases leases={leases} />}
          </>
        )}
      </QueryView>
    </Section>
  );
}

function Row({ process }: { readonly process: Schemas["ServiceProcess"] }): ReactNode {
  const texts = useMessages(messages).processes;
  const { kind, identity, version, queues, is_alive: isAlive } = process;
  const { started_at: started, renewed_at: renewed } = process;
  return (
    <Table.Tr>
      <Table.Td>
        {kind === null ? texts.unknownKind : texts.kinds[kind]}
        <Id>{identity}</Id>
      </Table.Td>
      <Table.Td>
        <StateBadge color={isAlive ? "green" : "gray"}>{isAlive ? texts.alive : texts.gone}</StateBadge>
      </Table.Td>
      <Table.Td>{version}</Table.Td>
      <Table.Td>{started !== null && <Ago at={started} />}</Table.Td>
      <Table.Td>{renewed !== null && <Ago at={renewed} />}</Table.Td>
      <Table.Td>{queues.join(", ")}</Table.Td>
    </Table.Tr>
  );
}

function Leases({ leases }: { readonly leases: ReadonlyArray<Schemas["TurnLease"]> }): ReactNode {
  const texts = useMessages(messages).processes;
  const { leaseColumns: columns } = texts;
  const formats = useFormats();
  return (
    <>
      <Title order={3} size="h5" mt="md">
        {texts.leases}
      </Title>
      <WideTable
        label={texts.leases}
        minWidth={480}
        columns={[columns.process, columns.turns, columns.renewed]}
      >
        {leases.map(({ api_process_id: id, renewed_at: renewed, open_turns: turns }) => (
          <Table.Tr key={id}>
            <Table.Td>
              <Id>{id}</Id>
            </Table.Td>
            <Table.Td>{formats.number(turns)}</Table.Td>
            <Table.Td>
              <Ago at={renewed} />
            </Table.Td>
          </Table.Tr>
        ))}
      </WideTable>
    </>
  );
}
