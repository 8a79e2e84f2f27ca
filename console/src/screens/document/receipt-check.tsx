import type { Schemas } from "@holdfast/client";
import { Alert, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useRouterState } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { answerOf } from "../../api/client.ts";
import { keyOf } from "../../api/keys.ts";
import { useHoldfast } from "../../app/context.ts";
import { useMessages } from "../../messages/messages.ts";
import { Bidi } from "../../parts/bidi.tsx";
import { QueryView } from "../../parts/query-view.tsx";
import { messages } from "./messages.ts";

/** The words of a citation and their salt; they are in the state of the history, and in no address. */
export interface Cited {
  readonly quote: string;
  readonly salt: string;
}

declare module "@tanstack/react-router" {
  interface HistoryState {
    cited?: Cited;
  }
}

export const useCited = (): Cited | undefined =>
  useRouterState({ select: ({ location }) => location.state.cited });

interface Props {
  /** What happens to it may make another verdict. */
  readonly documentId: string;
  readonly receipt: string;
  readonly cited: Cited | undefined;
}

/** Whether the cited words stand in the document, by the service's own check of the receipt. */
export function ReceiptCheck({ documentId, receipt, cited }: Props): ReactNode {
  const texts = useMessages(messages).receipt;
  const { api } = useHoldfast();
  const verdict = useQuery({
    queryKey: keyOf("documents", documentId, "receipt", receipt, cited?.quote),
    queryFn: () => answerOf(api.POST("/v1/receipts/verify", { body: { receipt, ...cited } })),
  });
  return (
    <QueryView query={verdict}>
      {(answer) => (
        <Alert
          color={answer.status === "same" ? "green" : answer.status === "invalid" ? "red" : "orange"}
          variant="light"
          title={texts.title}
          mb="md"
          role="status"
        >
          {cited !== undefined && (
            <Text fs="italic" mb={4}>
              “<Bidi>{cited.quote}</Bidi>”
            </Text>
          )}
          <Text size="sm">
            {texts[answer.status]} <Found verdict={answer} />{" "}
            {answer.claims !== undefined && texts.version(answer.claims.document_version)}
          </Text>
        </Alert>
      )}
    </QueryView>
  );
}

function Found({ verdict }: { readonly verdict: Schemas["ReceiptVerdict"] }): ReactNode {
  const texts = useMessages(messages).receipt;
  if (verdict.status !== "superseded" || verdict.found === undefined) return null;
  return verdict.found === null ? texts.gone : texts.foundAgain;
}
