/** What a model wrote, of whatever kind, gathered for counting while its choices are gone through. */
export type WrittenText = {
  text: string;
  /** There is content that is no text. */
  isContent?: true;
};
