/** Everything a model wrote, collected for counting while the choices are sanitised. */
export type WrittenText = {
  text: string;
  /** There is content that is not text. */
  isContent?: true;
};
