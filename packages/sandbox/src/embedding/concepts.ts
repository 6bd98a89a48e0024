import { stemWord } from "./stem-word.ts";

/** A small thesaurus of related words, one group per line; a word may be in several groups. */
const groups = `
buy bought purchase order shop acquire checkout
pay paid payment bill invoice charge cost price fee credit debit
refund refunded reimburse money repay
cheap inexpensive affordable bargain discount
expensive costly dear pricey
ship deliver delivery send sent dispatch parcel package courier mail post
return exchange
arrive arrival come came deliver
broken break broke damaged defective faulty cracked failed
repair fix mend restore
password passcode pin credentials login signin account
forgot forgotten forget lost lose reset recover
user member customer client account
cancel terminate end stop unsubscribe
help support assist aid service
question ask query inquiry
answer reply response respond
error bug problem issue fault failure crash
computer laptop pc machine notebook
phone smartphone mobile telephone cellphone
internet web online network wifi
program software app application code
developer engineer programmer coder
write wrote author compose
read book novel story literature
teach taught teacher education school lesson instructor professor class
learn study student pupil education
child children kid boy girl infant baby toddler
man men male gentleman guy
woman women female lady
mother mom father dad parent family
friend buddy companion pal
dog puppy hound canine pet
cat kitten feline pet
animal pet creature beast
bird sparrow eagle pigeon
car automobile vehicle auto drive drove
train railway rail station
plane airplane aircraft flight fly airport
bicycle bike cycling
boat ship vessel sail
travel trip journey vacation holiday tour voyage
hotel room accommodation hostel inn
road street highway lane
city town urban metropolis
country nation state
house home apartment flat building residence
garden plant flower lawn yard
tree forest wood oak
river stream water brook canal
sea ocean water wave
mountain hill peak summit
weather rain snow storm sunny cloud forecast climate
rain rainy shower drizzle wet umbrella
hot warm heat summer
cold freezing chilly winter ice
sun sunshine sunny light
food meal dish eat ate dinner lunch breakfast cook
cook bake recipe boil fry roast kitchen chef oven
bread loaf bake dough flour
cake dessert sweet sugar bake
fruit apple banana orange pear
vegetable carrot potato tomato onion
meat beef pork chicken steak
drink water beverage tea coffee juice
restaurant cafe diner bistro
doctor physician medical surgeon nurse
hospital clinic medical
ill illness sick disease unwell
medicine drug pill medication treatment cure
pain ache hurt sore
headache migraine head
heart cardiac
fever temperature flu
exercise workout gym training fitness sport run
football soccer match goal team
game play match
win won victory triumph beat
music song melody tune band sing sang
movie film cinema
paint draw picture art image
photo photograph picture image camera
happy glad joy cheerful delighted
sad unhappy sorrow depressed gloomy
angry fury mad annoyed upset
fear afraid scared fright
love adore affection like
big large huge great giant
small little tiny mini
fast quick rapid speed swift
slow sluggish
good great excellent fine nice superb
bad poor terrible awful
begin began start commence launch open
end finish complete close conclude
open unlock
close shut lock
work job employment labor career occupation
company firm business corporation enterprise
boss manager director chief leader
money cash fund currency dollar euro
bank loan mortgage account
invest investor stock share market bond
tax revenue duty
law legal court judge lawyer attorney
crime steal stole theft rob thief
police officer cop
war battle fight military army soldier
peace truce calm
government politics president minister parliament
vote election ballot
science research scientist experiment
space planet star astronomy galaxy moon
math mathematics number calculation arithmetic
physics quantum energy force
chemistry molecule atom
biology cell gene dna
clothes shirt dress wear jacket trousers
shoe boot sandal
day today daily
night evening dark
morning dawn sunrise
year annual
clock watch time hour minute
meeting appointment schedule calendar
talk speak spoke chat say said tell told conversation
see saw look watch view
hear heard listen sound
walk stroll hike foot
jump leap hop
sleep slept bed nap rest
tired exhausted weary
clean wash tidy
dirty filthy muddy
old ancient aged elderly
young youth new
rich wealthy
poor poverty
safe secure protect guard
danger dangerous risk hazard peril
gate door entrance sluice
key lock unlock
`;

const lines = groups.trim().split("\n");
const groupsByStem = new Map<string, number[]>();
for (const [number, line] of lines.entries()) {
  for (const stem of new Set(line.split(" ").map(stemWord))) {
    groupsByStem.set(stem, [...(groupsByStem.get(stem) ?? []), number]);
  }
}

export const conceptCount = lines.length;

/** The groups that a stem belongs to. */
export function listConcepts(stem: string): readonly number[] {
  return groupsByStem.get(stem) ?? [];
}
