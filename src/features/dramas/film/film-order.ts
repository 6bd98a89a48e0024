/** `burned`: drawn into the video. `track`: a text track that players can switch off. */
export const subtitleModes = ["burned", "track", "none"] as const;
export type SubtitleMode = (typeof subtitleModes)[number];

/** A film to assemble. All files are in one folder, already fetched and checked. */
export type FilmOrder = {
  title: string;
  episode: number;
  /** The spoken language, such as `en`. */
  language: string;
  /** Such as `16:9`. */
  aspectRatio: string;
  shots: readonly FilmShot[];
  subtitles: SubtitleMode;
  /** The image for poster and title card; `null` uses the film's first frame. */
  imagePath: string | null;
  /** The working directory; the caller deletes it. */
  folder: string;
};

export type FilmShot = {
  /** A clip of any size, frame rate and length, with or without sound. */
  clipPath: string;
  contentType: string;
  /** Its length if it has no lines. */
  seconds: number;
  /** Whether the clip already contains the spoken lines, as an avatar video does. */
  isVoiced: boolean;
  lines: readonly FilmLine[];
};

export type FilmLine = {
  /** `null` for the narrator. */
  speaker: string | null;
  text: string;
  /** The speech; `null` for a line that is only captioned. */
  audio: { path: string; contentType: string } | null;
};

/** The result, in the order's folder. */
export type MadeFilm = {
  filmPath: string;
  subtitlesPath: string;
  posterPath: string;
  width: number;
  height: number;
  durationMs: number;
  /** Characters that our fonts lack: missing in the burnt-in captions, present in the subtitle file. */
  undrawable: readonly string[];
};
