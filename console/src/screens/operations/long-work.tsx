import { Checkbox, Code, Table, Text } from "@mantine/core";
import type { Schemas } from "@holdfast/client";
import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useHoldfast } from "../../app/context.ts";
import { useMessages } from "../../messages/messages.ts";
import { PageControl } from "../../parts/lists/page-control.tsx";
import { type StateColor, StateBadge } from "../../parts/lists/state-badge.tsx";
import { WideTable } from "../../parts/lists/wide-table.tsx";
import { QueryView } from "../../parts/query-view.tsx";
import { Ago } from "../../parts/time.tsx";
import { messages } from "./messages.ts";
import { workQuery } from "./queries.ts";
import { Id, Section } from "./section.tsx";

type Work = Schemas["LongRunning"];

const COLORS: Readonly<Record<Work["state"], StateColor>> = {
  asked_for: "gray",
  waits: "yellow",
  under_way: "indigo",
  paused: "yellow",
  completed: "green",
  failed: "red",
};

/** Operations, deletions and batches that are under way. */
export function LongWork(): ReactNode {
  const texts = useMessages(messages).work;
  const { columns } = texts;
  const [page, setPage] = useState(1);
  const [withEnded, setWithEnded] = useState(false);
  const query = useQuery(workQuery(useHoldfast(), page, withEnded));
  return (
    <Section title={texts.title}>
      <Checkbox
        label={texts.ended}
        checked={withEnded}
        onChange={(event) => {
          setWithEnded(event.currentTarget.checked);
          setPage(1);
        }}
      />
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
                columns={[columns.kind, columns.state, columns.since, columns.waits, columns.of]}
              >
                {items.map((work) => (
                  <Row key={work.id} work={work} />
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

function Row({ work }: { readonly work: Work }): ReactNode {
  const texts = useMessages(messages).work;
  return (
    <Table.Tr>
      <Table.Td>
        {work.kind}
        <Id>{work.id}</Id>
      </Table.Td>
      <Table.Td>
        <StateBadge color={COLORS[work.state]}>{texts.states[work.state]}</StateBadge>
      </Table.Td>
      <Table.Td>
        <Ago at={work.since} />
      </Table.Td>
      <Table.Td>{work.waits_for !== null && <Code>{work.waits_for}</Code>}</Table.Td>
      <Table.Td>{work.organization_id !== null && <Id>{work.organization_id}</Id>}</Table.Td>
    </Table.Tr>
  );
}
