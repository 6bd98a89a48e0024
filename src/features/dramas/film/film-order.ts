/** A film that is to be put together: everything lies in files of one folder, fetched and checked before. */
export type FilmOrder = {
  title: string;
  episode: number;
  /** Of what is said, as in `en`. */
  language: string;
  /** As in `16:9`. */
  aspectRatio: string;
  shots: readonly FilmShot[];
  /** What poster and title card are made from; the film's own first image where there is none. */
  picturePath: string | null;
  /** Where it may write; emptied by whoever gave the order. */
  folder: string;
};

export type FilmShot = {
  /** A film of any size, rate and length, with or without sound. */
  clipPath: string;
  contentType: string;
  /** How long it is meant to take where nothing is said in it. */
  seconds: number;
  /** Whether the lines can be heard in the clip already, as where an avatar says them. */
  isVoiced: boolean;
  lines: readonly FilmLine[];
};

export type FilmLine = {
  /** `null` for the narrator. */
  speaker: string | null;
  text: string;
  /** What is said; `null` for a line that is only shown. */
  audio: { path: string; contentType: string } | null;
};

/** What was put together, in the order's folder. */
export type MadeFilm = {
  filmPath: string;
  subtitlesPath: string;
  posterPath: string;
  durationMs: number;
  /** Characters that no font of ours can draw, each once: the burnt-in captions go without, the subtitle file has them. */
  undrawable: readonly string[];
};
