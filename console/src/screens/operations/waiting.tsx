import { Code, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useHoldfast } from "../../app/context.ts";
import { useFormats } from "../../messages/formats.ts";
import { useMessages } from "../../messages/messages.ts";
import { PageControl } from "../../parts/lists/page-control.tsx";
import { WideTable } from "../../parts/lists/wide-table.tsx";
import { QueryView } from "../../parts/query-view.tsx";
import { Ago } from "../../parts/time.tsx";
import { messages } from "./messages.ts";
import { waitingQuery } from "./queries.ts";
import { Id, Section } from "./section.tsx";

/** What is accepted and cannot go on, by what it waits for. */
export function Waiting(): ReactNode {
  const texts = useMessages(messages).waiting;
  const { columns } = texts;
  const formats = useFormats();
  const [page, setPage] = useState(1);
  const query = useQuery(waitingQuery(useHoldfast(), page));
  return (
    <Section title={texts.title}>
      <QueryView query={query}>
        {({ items, total_pages: total }) =>
          items.length === 0 ? (
            <Text c="dimmed">
              {texts.none}. {texts.noneText}
            </Text>
          ) : (
            <>
              <WideTable
                label={texts.title}
                columns={[columns.kind, columns.code, columns.count, columns.since, columns.next, columns.of]}
              >
                {items.map(({ kind, code, count, since, next_attempt_at: next, organization_id: of }) => (
                  <Table.Tr key={`${kind} ${code} ${of}`}>
                    <Table.Td>{texts.kinds[kind]}</Table.Td>
                    <Table.Td>
                      <Code>{code}</Code>
                    </Table.Td>
                    <Table.Td>{formats.number(count)}</Table.Td>
                    <Table.Td>
                      <Ago at={since} />
                    </Table.Td>
                    <Table.Td>{next !== null && formats.time(next)}</Table.Td>
                    <Table.Td>{of === null ? texts.instance : <Id>{of}</Id>}</Table.Td>
                  </Table.Tr>
                ))}
              </WideTable>
              <PageControl page={page} total={total} onChange={setPage} />
            </>
          )
        }
      </QueryView>
    </Section>
  );
}
