import { useEffect, useRef, useState } from "react";
import type { ModelDetail } from "../../api/fetch-catalog.ts";
import { Button } from "../../design/button.tsx";
import { EmptyState } from "../../design/empty-state.tsx";
import { joinClasses } from "../../design/join-classes.ts";
import { TextArea } from "../../design/text-area.tsx";
import { ChatComposer, type ChatDraft, emptyDraft, isEmptyDraft, useChatDraft } from "./chat-composer.tsx";
import { readSettings } from "./chat-settings.ts";
import { ChatSettingsPanel, useChatSettings } from "./chat-settings-panel.tsx";
import { ChatTurn } from "./chat-turn.tsx";
import { listMessages, listOpenCalls, type ToolCall, type ToolResult, type Turn } from "./conversation.ts";
import { createRandomName } from "./create-random-name.ts";
import { ExampleList } from "./example-list.tsx";
import { chatExamples } from "./examples.ts";
import { QuoteLine } from "./quote-line.tsx";
import { RequestCode } from "./request-code.tsx";
import { findFieldError, RequestFailure } from "./request-failure.tsx";
import { useChat } from "./use-chat.ts";

const settingNames = ["temperature", "top_p", "max_completion_tokens", "reasoning_effort", "tools"] as const;

type ChatWorkspaceProps = { model: ModelDetail; currency: string; isCodeShown: boolean };

/** A conversation with the chosen chat model, and its settings. */
export function ChatWorkspace({ model, currency, isCodeShown }: ChatWorkspaceProps) {
  const chat = useChat();
  const [draft, setDraft] = useChatDraft();
  const [settings, setSettings] = useChatSettings();
  const [areSettingsOpen, setSettingsOpen] = useState(false);
  const { options, problems } = readSettings(settings, model);
  const isSendable = Object.keys(problems).length === 0;
  const isStreamed = model.capabilities.includes("streaming");
  const takesImages = model.capabilities.includes("vision");
  // Conversations keep their images when the model changes to one without vision.
  const call = { system: settings.system, model: model.id, isStreamed, takesImages: true, options };
  const isShownAtField = settingNames.some((name) => findFieldError(chat.failure, name) !== null);

  const ask = (run: () => void) => {
    // The invalid setting may be collapsed.
    if (isSendable) run();
    else setSettingsOpen(true);
  };
  const send = () =>
    ask(() => {
      const images = takesImages ? draft.images : [];
      chat.send([{ kind: "question", id: createRandomName(), text: draft.text, images }], call);
      setDraft(emptyDraft);
    });
  const edit = (turn: Extract<Turn, { kind: "question" }>) => {
    setDraft({ text: turn.text, images: turn.images });
    chat.cutBefore(turn.id);
  };
  const asked = isEmptyDraft(draft) && chat.turns.length > 0 ? chat.turns : [...chat.turns, toQuestion(draft)];
  const body = { model: model.id, messages: listMessages(settings.system, asked), ...options, stream: isStreamed };
  return (
    <div className="flex flex-col gap-6">
      {isCodeShown && <RequestCode type="chat" body={body} />}
      <div className="grid gap-x-10 gap-y-6 xl:grid-cols-[minmax(0,1fr)_20rem]">
        <div className="flex min-w-0 flex-col gap-6">
          <Thread
            chat={chat}
            currency={currency}
            onRepeat={() => ask(() => chat.repeat(call))}
            onEdit={edit}
            onExample={(text) => setDraft({ ...draft, text })}
          />
          {listOpenCalls(chat.turns).length > 0 && !chat.isBusy && (
            <ToolResultsForm
              calls={listOpenCalls(chat.turns)}
              onSend={(results) => ask(() => chat.send(results, call))}
            />
          )}
          {chat.failure !== null && (
            <RequestFailure error={chat.failure} {...(isShownAtField ? {} : { onRetry: () => chat.repeat(call) })} />
          )}
          <ChatComposer
            draft={draft}
            onChange={setDraft}
            takesImages={takesImages}
            isBusy={chat.isBusy}
            onSend={send}
            onStop={chat.stop}
          />
          <QuoteLine
            path="/chat/completions"
            request={isEmptyDraft(draft) || chat.isBusy || !isSendable ? null : body}
          />
          {chat.turns.length > 0 && (
            <div className="-mt-3">
              <Button look="quiet" className="-ml-2" onClick={chat.clear}>
                Clear conversation
              </Button>
            </div>
          )}
        </div>
        <aside aria-label="Settings" className="flex min-w-0 flex-col gap-4">
          <Button
            className="self-start xl:hidden"
            aria-expanded={areSettingsOpen}
            aria-controls="chat-settings"
            onClick={() => setSettingsOpen(!areSettingsOpen)}
          >
            {areSettingsOpen ? "Hide settings" : "Settings"}
          </Button>
          <div id="chat-settings" className={joinClasses(!areSettingsOpen && "max-xl:hidden")}>
            <ChatSettingsPanel
              model={model}
              settings={settings}
              problems={problems}
              failure={chat.failure}
              onChange={(change) => setSettings((last) => ({ ...last, ...change }))}
            />
          </div>
        </aside>
      </div>
    </div>
  );
}

/** The code sample needs a message: the API rejects an empty one. */
function toQuestion(draft: ChatDraft): Turn {
  return { kind: "question", id: "draft", ...draft, text: isEmptyDraft(draft) ? "Hello!" : draft.text };
}

type ThreadProps = {
  chat: ReturnType<typeof useChat>;
  currency: string;
  onRepeat(): void;
  onEdit(turn: Extract<Turn, { kind: "question" }>): void;
  onExample(text: string): void;
};

/** Scrolls along with a streaming response, unless the user has scrolled up. */
function Thread({ chat: { turns, isBusy, failure }, currency, onRepeat, onEdit, onExample }: ThreadProps) {
  const end = useRef<HTMLDivElement>(null);
  const lastText = turns.at(-1)?.text;
  // biome-ignore lint/correctness/useExhaustiveDependencies: every new chunk moves the end.
  useEffect(() => {
    if (isBusy && isNearEnd()) end.current?.scrollIntoView({ block: "nearest" });
  }, [isBusy, lastText]);
  if (turns.length === 0) {
    return (
      <div className="flex flex-col gap-6">
        <EmptyState title="Send a message">
          Responses stream in with their cost. Messages stay in this window only.
        </EmptyState>
        <ExampleList examples={chatExamples} describe={({ text }) => text} onChoose={({ text }) => onExample(text)} />
      </div>
    );
  }
  const last = turns.at(-1);
  const lastQuestion = turns.findLast((turn) => turn.kind === "question");
  return (
    <section aria-label="Conversation" className="flex min-w-0 flex-col gap-6">
      {turns.map((turn) => (
        <ChatTurn
          key={turn.id}
          turn={turn}
          currency={currency}
          {...(!isBusy && turn === last && turn.kind === "answer" ? { onRepeat } : {})}
          {...(!isBusy && turn === lastQuestion && turn.kind === "question" ? { onEdit: () => onEdit(turn) } : {})}
        />
      ))}
      {last?.kind !== "answer" && !isBusy && failure === null && (
        <div>
          <Button onClick={onRepeat}>Generate response</Button>
        </div>
      )}
      <div ref={end} className="scroll-mb-64" />
    </section>
  );
}

const nearEndPixels = 400;

function isNearEnd(): boolean {
  const { scrollHeight } = document.documentElement;
  return scrollHeight - window.scrollY - window.innerHeight < nearEndPixels;
}

/** The user plays the tools and types their results. */
function ToolResultsForm({ calls, onSend }: { calls: readonly ToolCall[]; onSend(results: ToolResult[]): void }) {
  const [texts, setTexts] = useState<Record<string, string>>({});
  const send = () =>
    onSend(
      calls.map(({ id, name }) => ({
        kind: "tool-result",
        id: createRandomName(),
        callId: id,
        name,
        text: texts[id] ?? "",
      })),
    );
  return (
    <form
      className="flex flex-col gap-4 rounded-lg border border-line p-4"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {calls.map(({ id, name }) => (
        <TextArea
          key={id}
          label={`Result of ${name}`}
          name={`result_${id}`}
          rows={2}
          className="font-mono text-sm"
          placeholder={'{"temperature": 21}'}
          value={texts[id] ?? ""}
          onChange={(text) => setTexts({ ...texts, [id]: text })}
        />
      ))}
      <div>
        <Button type="submit" look="primary">
          Send {calls.length === 1 ? "the result" : "the results"}
        </Button>
      </div>
    </form>
  );
}
