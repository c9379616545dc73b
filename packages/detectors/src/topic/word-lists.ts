/**
 * Words that give a topic away. `telling` ones do alone; of `usual` ones it takes three, because they are also used of much else,
 * too. English, with some German, French and Spanish.
 */
export interface TopicWords {
  /** Words in their shortest form, and pairs of words. */
  readonly telling: string;
  readonly usual: string;
}

export const TOPIC_WORDS: Readonly<Record<string, TopicWords>> = {
  finance: {
    telling:
      'mortgage dividend stockbroker portfolio investor inflation cryptocurrency bitcoin overdraft creditor refinance equities hedge-fund shareholder brokerage liquidity amortisation insolvency bond-yield interest-rate mutual-fund exchange-rate stock-market credit-score tax-return savings-account kredit zinsen aktie aktien dividende rendite hypothek prestamo hipoteca inversion acciones hypotheque bourse placement actionnaire',
    usual:
      'bank loan invest investment fund stock share market money account interest rate tax budget debt credit savings pension price profit revenue broker currency euro dollar payment yield asset',
  },
  health: {
    telling:
      'diagnosis diagnose antibiotic chemotherapy symptom dosage ibuprofen paracetamol insulin diabetes hypertension vaccination vaccine oncologist cardiologist paediatrician physician dermatologist biopsy prescription migraine asthma surgeon side-effect blood-pressure blood-test immune-system arzt krankheit medikament fieber diagnose impfung medico enfermedad fiebre medicamento vacuna medecin maladie ordonnance fievre symptome',
    usual:
      'doctor patient hospital clinic treatment therapy pain disease illness nurse medicine pill tablet fever infection allergy heart blood surgery health medical chronic rash cough cancer dose',
  },
  law: {
    telling:
      'lawsuit plaintiff defendant attorney litigation statute subpoena barrister solicitor tort jurisdiction injunction affidavit indictment prosecutor appellate custody-hearing court-order power-of-attorney small-claims breach-of-contract legal-advice rechtsanwalt klage gericht urteil paragraph abogado demanda tribunal juez avocat tribunal plainte jugement',
    usual:
      'legally binding agreement consent verdict law lawyer court judge contract legal claim liable liability sue trial jury evidence clause rights dispute appeal testimony witness settlement damages offence crime landlord tenant',
  },
  politics: {
    telling:
      'election senator parliament congressman prime-minister referendum gerrymandering coalition-government ballot electorate lobbyist republican democrats democrat conservative-party labour-party left-wing right-wing impeachment legislature bundestag wahlkampf bundeskanzler partei koalition elecciones senador diputado gobierno partido elections depute senat gouvernement',
    usual:
      'president minister government party vote voter campaign policy candidate senate congress opposition reform mayor majority debate poll cabinet coalition democracy populist immigration sanctions',
  },
  religion: {
    telling:
      'bible quran koran torah gospel baptism communion sermon rosary mosque synagogue ramadan christianity islam judaism buddhism hinduism atheism theology messiah prophet-muhammad jesus pope pastor imam rabbi holy-spirit bibel kirche gottesdienst biblia iglesia misa bible eglise messe mosquee',
    usual:
      'god church prayer pray faith holy worship temple priest monk soul sacred scripture saint heaven sin religious belief bless divine ritual fasting',
  },
  sex: {
    telling:
      'sex sexual sexo porn pornography erotic orgasm masturbation masturbate intercourse blowjob condom nudes striptease fetish escort-service sex-toy sexting one-night-stand oral-sex hookup pornografie erotik kondom pornografia erotico preservativo pornographie erotique preservatif',
    usual: 'sexy naked nude lust aroused kinky seduce intimate virgin libido lingerie bedroom',
  },
  drugs: {
    telling:
      'cocaine heroin methamphetamine fentanyl cannabis marijuana ecstasy lsd ketamine amphetamine drug-dealer magic-mushrooms crack-pipe opioid overdose kokain heroin haschisch cocaina heroina marihuana drogue',
    usual: 'drug weed joint high dealer addict addiction stoned snort inject smoke stash dope trip substance',
  },
  weapons: {
    telling:
      'rifle handgun ammunition shotgun revolver grenade explosive detonator silencer machete firearm semtex pipe-bomb assault-rifle nerve-agent ar-15 ak-47 gewehr munition sprengstoff pistole fusil municion explosivo arme pistolet munitions',
    usual:
      'gun weapon bullet shoot bomb trigger knife blade calibre magazine barrel armed missile sniper explode',
  },
  gambling: {
    telling:
      'casino roulette blackjack poker sportsbook slot-machine bookmaker jackpot betting-odds online-casino lottery-ticket scratch-card wettburo glucksspiel apuestas tragaperras pari-sportif loterie',
    usual: 'bet betting odds gamble wager stake dealer chips lottery winnings bonus spin payout dice bluff',
  },
  sports: {
    telling:
      'referee football soccer basketball tennis goalkeeper midfielder quarterback touchdown olympics olympic marathon playoff playoffs wimbledon grand-prix penalty-kick hat-trick premier-league world-cup bundesliga fussball torwart futbol portero baloncesto championnat gardien-de-but',
    usual:
      'match team player coach goal score league season win race stadium champion tournament defeat medal training striker pitch',
  },
  travel: {
    telling:
      'itinerary airline airfare layover backpacking sightseeing passport-control boarding-pass travel-insurance hotel-room tourist-visa cruise-ship jet-lag airbnb hostel reiseziel flughafen urlaub vuelo equipaje vacaciones voyage vol-direct vacances aeroport',
    usual:
      'flight hotel trip passenger boarding airport luggage passport visa tourist beach vacation holiday train destination resort guide museum island',
  },
  software: {
    telling:
      'javascript typescript python kubernetes compiler refactor debugger api-endpoint stack-trace unit-test pull-request git-commit docker database-schema sql-query null-pointer source-code open-source npm rest-api programmieren quellcode programacion codigo-fuente logiciel code-source',
    usual:
      'code bug function server database deploy variable library framework developer script endpoint query branch commit build test release repository frontend backend',
  },
};
