import { Button, Code, Group, Stack, Table, Text } from "@mantine/core";
import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import type { Schemas } from "@holdfast/client";
import type { ReactNode } from "react";
import { answerOf } from "../../../api/client.ts";
import { keyOf } from "../../../api/keys.ts";
import { useHoldfast, useMe } from "../../../app/context.ts";
import { useFormats } from "../../../messages/formats.ts";
import { useMessages } from "../../../messages/messages.ts";
import { Bidi } from "../../../parts/bidi.tsx";
import { Empty } from "../../../parts/empty.tsx";
import { PageControl } from "../../../parts/lists/page-control.tsx";
import { fileNameOf } from "../../../parts/lists/file-name.ts";
import { saveBlob } from "../../../parts/lists/save-text.ts";
import { StateBadge } from "../../../parts/lists/state-badge.tsx";
import { WideTable } from "../../../parts/lists/wide-table.tsx";
import { QueryView } from "../../../parts/query-view.tsx";
import { ScreenError } from "../../../parts/screen-error.tsx";
import { useShortcuts } from "../../../parts/shortcuts.tsx";
import { AuditFilters } from "./audit-filters.tsx";
import { ChainCheck } from "./chain-check.tsx";
import { type AuditAddress, filtersOf } from "./filters.ts";
import { messages } from "./messages.ts";

type Row = Schemas["AuditRow"];

const PAGE_SIZE = 100;
const VERIFY = "holdfast audit verify";

/**
 * The audit log with its filters. It is asked for by hand only: each look at it is a row of it, and a list
 * that asked by itself would fill it.
 */
export function Audit(): ReactNode {
  const texts = useMessages(messages);
  const { organization } = useMe();
  const { api } = useHoldfast();
  const { page = 1, ...address } = useSearch({ from: "/organization/$part" });
  const navigate = useNavigate({ from: "/organization/$part" });
  const filters = filtersOf(address);
  const path = { organization_id: organization.id };
  const log = useQuery({
    queryKey: keyOf("audit", organization.id, filters, page),
    queryFn: async () => {
      const query = { page, limit: PAGE_SIZE, ...(filters === undefined ? {} : { filters }) };
      // Without a format the answer is a page; the export below is the other form.
      const answer = await answerOf<unknown>(
        api.GET("/v1/organizations/{organization_id}/audit-log", { params: { path, query } }),
      );
      return answer as Schemas["AuditPage"];
    },
    placeholderData: keepPreviousData,
  });
  useShortcuts([{ keys: "r", label: texts.keys.refresh, run: () => void log.refetch() }]);
  const change = (next: AuditAddress): void => void navigate({ search: next, replace: true });
  return (
    <Stack gap="md">
      <Text size="sm" c="dimmed">
        {texts.text} <Code>{VERIFY}</Code>
      </Text>
      <AuditFilters address={address} onChange={change} />
      <Group>
        <Button variant="default" size="xs" loading={log.isFetching} onClick={() => void log.refetch()}>
          {texts.refresh}
        </Button>
        <Export filters={filters} />
        <ChainCheck />
      </Group>
      <QueryView query={log}>
        {({ items, total_pages: total }) =>
          items.length === 0 ? (
            <Empty title={texts.empty} text={texts.emptyText}>
              <Button variant="default" onClick={() => change({})}>
                {texts.clear}
              </Button>
            </Empty>
          ) : (
            <>
              <Rows rows={items} />
              <PageControl
                page={page}
                total={total}
                onChange={(next) => void navigate({ search: (before) => ({ ...before, page: next }) })}
              />
            </>
          )
        }
      </QueryView>
    </Stack>
  );
}

/** The service's own export: each row that the filters let through, one JSON object a line. */
function Export({ filters }: { readonly filters: string | undefined }): ReactNode {
  const texts = useMessages(messages);
  const { api } = useHoldfast();
  const { organization } = useMe();
  const exported = useMutation({
    mutationFn: async () => {
      const blob = await answerOf<unknown>(
        api.GET("/v1/organizations/{organization_id}/audit-log", {
          params: {
            path: { organization_id: organization.id },
            query: { format: "ndjson", ...(filters === undefined ? {} : { filters }) },
          },
          parseAs: "blob",
        }),
      );
      saveBlob(blob as Blob, fileNameOf(`audit-${organization.name}`, "ndjson"));
    },
  });
  return (
    <>
      <Button
        variant="default"
        size="xs"
        title={texts.exportHint}
        loading={exported.isPending}
        onClick={() => exported.mutate()}
      >
        {texts.export}
      </Button>
      {exported.error !== null && <ScreenError error={exported.error} />}
    </>
  );
}

function Rows({ rows }: { readonly rows: readonly Row[] }): ReactNode {
  const texts = useMessages(messages);
  const { columns } = texts;
  return (
    <WideTable
      label={texts.label}
      minWidth={900}
      columns={[
        columns.at,
        columns.actor,
        columns.action,
        columns.resource,
        columns.outcome,
        columns.request,
      ]}
    >
      {rows.map((row) => (
        <AuditRow key={row.id} row={row} />
      ))}
    </WideTable>
  );
}

/** Why requests were refused, or what was made of what was read. */
function Details({ row: { code, route, target } }: { readonly row: Row }): ReactNode {
  const texts = useMessages(messages);
  const lines = [code, route, target === null ? null : texts.copiedTo(target.id)];
  return lines.map(
    (line) =>
      line !== null && (
        <Text key={line} size="xs" c="dimmed" ff="monospace" style={{ overflowWrap: "anywhere" }}>
          {line}
        </Text>
      ),
  );
}

function AuditRow({ row }: { readonly row: Row }): ReactNode {
  const texts = useMessages(messages);
  const formats = useFormats();
  const outcomes: Readonly<Record<string, string>> = texts.outcomes;
  const outcome = outcomes[row.outcome] ?? row.outcome;
  const { actor } = row;
  return (
    <Table.Tr>
      <Table.Td>
        <time dateTime={row.at} title={row.at}>
          {formats.time(row.at)}
        </time>
      </Table.Td>
      <Table.Td>
        {actor === null ? texts.system : <Bidi>{actor.name ?? texts.unnamed}</Bidi>}
        <Text size="xs" c="dimmed">
          {texts.methods[row.auth_method]}
        </Text>
      </Table.Td>
      <Table.Td>
        <Code>{row.action}</Code>
      </Table.Td>
      <Table.Td>
        <Text size="sm">{row.resource_type}</Text>
        <Text size="xs" c="dimmed" ff="monospace" style={{ overflowWrap: "anywhere" }}>
          {row.resource_id}
        </Text>
      </Table.Td>
      <Table.Td>
        <StateBadge color={row.outcome === "success" ? "green" : "red"}>
          {row.count > 1 ? `${outcome} × ${formats.number(row.count)}` : outcome}
        </StateBadge>
        <Details row={row} />
      </Table.Td>
      <Table.Td>
        <Text size="xs" c="dimmed" ff="monospace" style={{ overflowWrap: "anywhere" }}>
          {row.request_id}
        </Text>
      </Table.Td>
    </Table.Tr>
  );
}
