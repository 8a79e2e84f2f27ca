import { Anchor, Button, Group, Tabs, Text } from "@mantine/core";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { answerOf } from "../../api/client.ts";
import { useAccess } from "../../app/access.ts";
import { useHoldfast } from "../../app/context.ts";
import { useMessages } from "../../messages/messages.ts";
import { Bidi } from "../../parts/bidi.tsx";
import { ConfirmDeletion } from "../../parts/confirm-deletion.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { QueryView } from "../../parts/query-view.tsx";
import { ScreenError } from "../../parts/screen-error.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { type Document, isUnderWay, nameOf } from "../space/documents.ts";
import { Content } from "./content.tsx";
import { Integrity } from "./integrity.tsx";
import { messages } from "./messages.ts";
import { Metadata } from "./metadata.tsx";
import { documentQuery } from "./queries.ts";
import { Runs } from "./runs.tsx";
import { Versions } from "./versions.tsx";

const TABS = ["pages", "versions", "runs", "integrity", "metadata"] as const;
type Tab = (typeof TABS)[number];

/** Everything about one document: its pages beside its chunks, versions, runs, integrity and metadata. */
export function DocumentScreen(): ReactNode {
  const { documentId } = useParams({ from: "/documents/$documentId" });
  const holdfast = useHoldfast();
  const document = useQuery(documentQuery(holdfast, documentId));
  return (
    <QueryView query={document}>
      {({ value, etag }) => <Shown key={documentId} document={value} etag={etag} />}
    </QueryView>
  );
}

interface Props {
  readonly document: Document;
  readonly etag: string | null;
}

function Shown({ document, etag }: Props): ReactNode {
  const texts = useMessages(messages);
  const address = useSearch({ from: "/documents/$documentId" });
  const navigate = useNavigate({ from: "/documents/$documentId" });
  const can = useAccess(document.space_id);
  const tab = TABS.find((each) => each === address.tab) ?? "pages";
  const { pipeline_status: status = "queued" } = document.processing_state;
  return (
    <>
      <PageHeader
        title={nameOf(document)}
        text={
          <Group gap="xs">
            <Anchor
              size="sm"
              renderRoot={(props) => (
                <Link to="/spaces/$spaceId" params={{ spaceId: document.space_id }} {...props} />
              )}
            >
              {texts.back}
            </Anchor>
            {document.folder_path !== null && <Bidi>{document.folder_path}</Bidi>}
            <StatusBadge status={status} />
            {document.version !== null && <Text size="sm">{texts.version(document.version)}</Text>}
          </Group>
        }
      >
        <Actions document={document} can={can} />
      </PageHeader>
      <Tabs
        value={tab}
        onChange={(next) =>
          void navigate({ search: next === "pages" ? {} : { tab: next as Tab }, replace: true })
        }
        keepMounted={false}
      >
        <Tabs.List aria-label={texts.tabsLabel}>
          {TABS.map((each) => (
            <Tabs.Tab key={each} value={each}>
              {texts.tabs[each]}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value="pages" pt="md">
          <Content document={document} address={address} />
        </Tabs.Panel>
        <Tabs.Panel value="versions" pt="md">
          <Versions documentId={document.id} mayRestore={can("documents:reprocess")} />
        </Tabs.Panel>
        <Tabs.Panel value="runs" pt="md">
          <Runs documentId={document.id} />
        </Tabs.Panel>
        <Tabs.Panel value="integrity" pt="md">
          <Integrity documentId={document.id} />
        </Tabs.Panel>
        <Tabs.Panel value="metadata" pt="md">
          <Metadata document={document} etag={etag} mayWrite={can("documents:update")} />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

interface ActionProps {
  readonly document: Document;
  readonly can: (action: string) => boolean;
}

function Actions({ document, can }: ActionProps): ReactNode {
  const texts = useMessages(messages);
  const { api } = useHoldfast();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const [isDeleting, setIsDeleting] = useState(false);
  const params = { path: { document_id: document.id } };
  const refresh = async (): Promise<void> => {
    await queries.invalidateQueries({ queryKey: ["documents"] });
    await queries.invalidateQueries({ queryKey: ["runs"] });
  };
  const run = useMutation({
    mutationFn: async () => {
      const { pipeline_run_id: runId } = document.processing_state;
      if (isUnderWay(document) && runId !== undefined)
        await answerOf(
          api.POST("/v1/data/runs/{pipeline_run_id}/cancel", {
            params: { path: { pipeline_run_id: runId } },
          }),
        );
      else await answerOf(api.POST("/v1/data/{document_id}/reprocess", { params }));
    },
    onSettled: refresh,
  });
  return (
    <>
      {run.error !== null && <ScreenError error={run.error} />}
      {can("documents:reprocess") && (
        <Button variant="default" loading={run.isPending} onClick={() => run.mutate()}>
          {isUnderWay(document) ? texts.cancelRun : texts.reprocess}
        </Button>
      )}
      {can("documents:delete") && (
        <Button
          variant="outline"
          color="red"
          c="var(--mantine-color-error)"
          onClick={() => setIsDeleting(true)}
        >
          {texts.remove}
        </Button>
      )}
      {isDeleting && (
        <ConfirmDeletion
          title={texts.removeTitle(nameOf(document))}
          action={texts.removeAction}
          count={() => answerOf(api.GET("/v1/data/{document_id}/deletion", { params }))}
          onConfirm={async () => {
            await answerOf(api.DELETE("/v1/data/{document_id}", { params }));
            await navigate({ to: "/spaces/$spaceId", params: { spaceId: document.space_id } });
            await refresh();
          }}
          onClose={() => setIsDeleting(false)}
        />
      )}
    </>
  );
}
