import { Code, Table, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useHoldfast } from "../../app/context.ts";
import { useFormats } from "../../messages/formats.ts";
import { useMessages } from "../../messages/messages.ts";
import { StateBadge } from "../../parts/lists/state-badge.tsx";
import { WideTable } from "../../parts/lists/wide-table.tsx";
import { QueryView } from "../../parts/query-view.tsx";
import { messages } from "./messages.ts";
import { orphansQuery } from "./queries.ts";
import { Id, Section } from "./section.tsx";

/** What belongs to nothing, or is not whole, as of the service's last count. */
export function Orphans(): ReactNode {
  const texts = useMessages(messages).orphans;
  const { columns } = texts;
  const formats = useFormats();
  const query = useQuery(orphansQuery(useHoldfast()));
  return (
    <Section title={texts.title}>
      <QueryView query={query}>
        {({ counted_at: at, organizations, kinds, found }) => (
          <>
            <Text size="sm" c="dimmed">
              {at === null ? texts.notCounted : texts.text(formats.ago(at), formats.number(organizations))}
            </Text>
            {at !== null && kinds.every(({ count }) => count === 0) && <Text>{texts.none}</Text>}
            {kinds.length > 0 && (
              <WideTable label={texts.title} minWidth={320} columns={[columns.kind, columns.count]}>
                {kinds.map(({ kind, count }) => (
                  <Table.Tr key={kind}>
                    <Table.Td>
                      <Code>{kind}</Code>
                    </Table.Td>
                    <Table.Td>
                      <StateBadge color={count === 0 ? "green" : "red"}>{formats.number(count)}</StateBadge>
                    </Table.Td>
                  </Table.Tr>
                ))}
              </WideTable>
            )}
            {found.length > 0 && (
              <WideTable
                label={columns.of}
                minWidth={480}
                columns={[columns.of, columns.kind, columns.count]}
              >
                {found.map(({ organization_id: of, kind, count }) => (
                  <Table.Tr key={`${of} ${kind}`}>
                    <Table.Td>
                      <Id>{of}</Id>
                    </Table.Td>
                    <Table.Td>
                      <Code>{kind}</Code>
                    </Table.Td>
                    <Table.Td>{formats.number(count)}</Table.Td>
                  </Table.Tr>
                ))}
              </WideTable>
            )}
          </>
        )}
      </QueryView>
    </Section>
  );
}
