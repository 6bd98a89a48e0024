import { useEffect, useRef, useState } from "react";
import { readSound } from "../../api/fetch-files.ts";
import type { Task, TaskOutput } from "../../api/fetch-tasks.ts";
import { Icon } from "../../design/icon.tsx";
import { InlineCodeText } from "../../design/inline-code-text.tsx";
import { joinClasses } from "../../design/join-classes.ts";
import { nameType } from "../../parts/format/model-labels.ts";
import { describeTaskStatus } from "../../parts/format/task-labels.ts";
import { linkOutput, linkThumbnail } from "../../parts/records/output-links.ts";
import { chooseCover } from "./choose-cover.ts";
import { measureBars } from "./measure-bars.ts";

type TaskCoverProps = { task: Task; isPlaying?: boolean; isSmall?: boolean };

/** A task's output as a preview, or its status. */
export function TaskCover({ task, isPlaying = false, isSmall = false }: TaskCoverProps) {
  const cover = chooseCover(task, new Date());
  switch (cover.kind) {
    case "image":
    case "video":
      return <Picture key={cover.output.file_id} output={cover.output} isPlaying={isPlaying && !isSmall} />;
    case "audio":
      return isSmall ? <Words task={task} isSmall /> : <Sound output={cover.output} />;
    case "open":
      return <UnderWay task={task} isSmall={isSmall} />;
    case "failed":
    case "gone":
    case "text":
      return <Words task={task} isSmall={isSmall} isGone={cover.kind === "gone"} />;
  }
}

/** The server renders a thumbnail; on failure the browser scales the file. */
function Picture({ output, isPlaying }: { output: TaskOutput; isPlaying: boolean }) {
  const [hasThumbnail, setThumbnail] = useState(true);
  const fill = "absolute inset-0 size-full object-cover";
  const isVideo = output.type === "video";
  return (
    <>
      {hasThumbnail && (
        <img
          src={linkThumbnail(output)}
          alt=""
          loading="lazy"
          decoding="async"
          className={fill}
          onError={() => setThumbnail(false)}
        />
      )}
      {!hasThumbnail && !isVideo && <img src={linkOutput(output)} alt="" loading="lazy" className={fill} />}
      {!hasThumbnail && isVideo && !isPlaying && (
        <video src={linkOutput(output)} muted playsInline preload="metadata" tabIndex={-1} className={fill} />
      )}
      {isVideo && isPlaying && (
        <video src={linkOutput(output)} muted autoPlay loop playsInline tabIndex={-1} className={fill} />
      )}
    </>
  );
}

const barNames = Array.from({ length: 28 }, (_, index) => `bar ${index}`);
/** Minimum height, so silence is visible. */
const barHeightMin = 6;

/** Plays in place. Bars show the loudness and fill with progress. */
function Sound({ output }: { output: TaskOutput }) {
  const sound = useRef<HTMLAudioElement>(null);
  const [isPlaying, setPlaying] = useState(false);
  const [share, setShare] = useState(0);
  const loudness = useWaveform(output, barNames.length);
  useEffect(() => () => sound.current?.pause(), []);
  const toggle = () => {
    const element = sound.current;
    if (element === null) return;
    if (element.paused) void element.play().catch(() => setPlaying(false));
    else element.pause();
  };
  return (
    <div className="absolute inset-0 flex items-center gap-3 bg-accent-soft px-4 text-accent">
      <button
        type="button"
        tabIndex={-1}
        aria-label={isPlaying ? "Pause" : "Play"}
        className="relative z-10 flex size-11 shrink-0 items-center justify-center rounded-full bg-accent text-on-accent hover:bg-accent-strong"
        onClick={toggle}
      >
        {isPlaying ? <span aria-hidden="true">❚❚</span> : <Icon name="playground" className="size-5" />}
      </button>
      <span aria-hidden="true" className="flex h-16 min-w-0 flex-1 items-center gap-[3px]">
        {barNames.map((name, index) => (
          <span
            key={name}
            style={{ height: `${Math.max(barHeightMin, Math.round((loudness?.[index] ?? 0) * 100))}%` }}
            className={joinClasses(
              "min-w-0 flex-1 rounded-full bg-current",
              index / barNames.length >= share && "opacity-35",
            )}
          />
        ))}
      </span>
      {/* biome-ignore lint/a11y/useMediaCaption: the request contains the spoken text. */}
      <audio
        ref={sound}
        src={linkOutput(output)}
        preload="none"
        onPlay={() => setPlaying(true)}
        onPause={() => setPlaying(false)}
        onEnded={() => setShare(0)}
        onTimeUpdate={({ currentTarget: { currentTime, duration } }) =>
          setShare(duration > 0 ? currentTime / duration : 0)
        }
      />
    </div>
  );
}

function UnderWay({ task, isSmall }: { task: Task; isSmall: boolean }) {
  return (
    <div className="absolute inset-0 flex flex-col items-center justify-center gap-3 bg-sunken text-accent">
      <span className="absolute inset-0 bg-accent-soft/60" aria-hidden="true" />
      {!isSmall && (
        <>
          <span className="relative text-lg font-semibold tabular-nums">
            {task.progress === 0 ? describeTaskStatus(task.status).name : `${task.progress} %`}
          </span>
          <span aria-hidden="true" className="relative h-1 w-24 overflow-hidden rounded-full bg-line">
            <span style={{ width: `${task.progress}%` }} className="block h-full rounded-full bg-accent" />
          </span>
        </>
      )}
    </div>
  );
}

type WordsProps = { task: Task; isSmall: boolean; isGone?: boolean };

function Words({ task, isSmall, isGone = false }: WordsProps) {
  const hasFailed = task.status !== "succeeded";
  const text = isGone ? "Output expired." : hasFailed ? (task.error?.message ?? "") : (task.prompt ?? "");
  return (
    <div className="absolute inset-0 flex flex-col items-center justify-center gap-1.5 bg-sunken p-4 text-center text-ink-soft">
      {isSmall ? (
        <span aria-hidden="true" className="text-xs font-medium">
          {nameType(task.type).charAt(0)}
        </span>
      ) : (
        <>
          <span className={joinClasses("font-semibold", task.status === "failed" && "text-danger")}>
            {hasFailed ? describeTaskStatus(task.status).name : nameType(task.type)}
          </span>
          {text !== "" && (
            <span className="line-clamp-3 text-sm">{hasFailed ? <InlineCodeText text={text} /> : text}</span>
          )}
        </>
      )}
    </div>
  );
}

/** Longer recordings cost more to load than a waveform is worth. */
const bytesMax = 2_000_000;
const sampleRate = 8_000;
const keptMax = 500;

const kept = new Map<string, readonly number[]>();

/** Loudness of each part, from 0 to 1; empty while unknown. */
function useWaveform(output: TaskOutput, barCount: number): readonly number[] | null {
  const { file_id: fileId, bytes } = output;
  const [bars, setBars] = useState(kept.get(fileId) ?? null);
  useEffect(() => {
    if (kept.has(fileId) || bytes > bytesMax) return;
    let isLeft = false;
    measureSound(fileId, barCount)
      .then((measured) => {
        if (kept.size >= keptMax) kept.clear();
        kept.set(fileId, measured);
        if (!isLeft) setBars(measured);
      })
      // Undecodable audio has no waveform but still plays.
      .catch(() => {});
    return () => {
      isLeft = true;
    };
  }, [fileId, bytes, barCount]);
  return bars;
}

async function measureSound(fileId: string, barCount: number): Promise<number[]> {
  const sound = await new OfflineAudioContext(1, 1, sampleRate).decodeAudioData(await readSound(fileId));
  return measureBars(sound.getChannelData(0), barCount);
}
