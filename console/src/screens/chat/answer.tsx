import type { Schemas } from "@holdfast/client";
import { Anchor } from "@mantine/core";
import { type ReactNode, memo } from "react";
import Markdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";
import { useMessages } from "../../messages/messages.ts";
import { CITE, citationMarks } from "./citation-marks.ts";
import { messages } from "./messages.ts";
import { SourceLink } from "./sources.tsx";

type Citation = Schemas["Citation"];

interface Props {
  readonly text: string;
  readonly citations: readonly Citation[];
}

const PLUGINS = [remarkGfm, citationMarks];

/**
 * An answer as Markdown without HTML. A model may write whatever a document tells it to, so that pictures are
 * not loaded, and links leave nothing behind.
 */
export const Answer = memo(function Answer({ text, citations }: Props): ReactNode {
  const texts = useMessages(messages);
  const components: Components = {
    a({ href = "", children }) {
      if (!href.startsWith(CITE))
        return (
          <Anchor href={href} target="_blank" rel="noreferrer nofollow" underline="always">
            {children}
          </Anchor>
        );
      const citation = citations.find(({ index }) => String(index) === href.slice(CITE.length));
      // Before the sources come at the end of the stream, and for marks without one.
      if (citation === undefined) return <span className="mark">{children}</span>;
      return (
        <SourceLink
          citation={citation}
          className="mark"
          label={texts.source(citation.index, citation.document_name)}
        >
          {children}
        </SourceLink>
      );
    },
    img: ({ alt = "" }) => <em>{alt}</em>,
  };
  return (
    <div className="answer" dir="auto">
      <Markdown remarkPlugins={PLUGINS} components={components}>
        {text}
      </Markdown>
    </div>
  );
});
