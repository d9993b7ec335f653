"""Everyday Chinese words in English, so that an English question can find a Chinese memory by word.

The embedding model reads English only, and a dictionary of the whole language would be a model of
its own. These few hundred characters cover home, food, health, people, work and time; what is not
here is not found across the two languages, and recall then says so. Written for this project.
"""

from __future__ import annotations

import re
from typing import Final

_TABLE: Final = """
浇花 water plant flower|浇水 water|花 flower plant|植物 plant|施肥 fertilise feed|松土 loosen soil
花园 garden|树 tree|水 water|茶 tea|咖啡 coffee|牛奶 milk|酒 wine alcohol|米饭 rice|面条 noodle
面包 bread|鸡蛋 egg|肉 meat|鱼 fish|水果 fruit|蔬菜 vegetable|早餐 breakfast|午餐 lunch
晚餐 dinner|吃 eat|喝 drink|素食 vegetarian|花生 peanut|辣 spicy|过敏 allergy allergic|药 medicine
药盒 medicine pill box|医生 doctor|医院 hospital|病 illness ill|血型 blood type
血压 blood pressure|家 home|房子 house|房间 room|厨房 kitchen|浴室 bathroom|卧室 bedroom
客厅 living room|抽屉 drawer|柜子 cupboard|门 door|窗 window|钥匙 key|密码 password
空调 air conditioner|冰箱 fridge|洗衣机 washing machine|打印机 printer|卡纸 paper jam
电视 television|灯 light lamp|桌子 table desk|椅子 chair|床 bed|垃圾 rubbish waste|房租 rent
房东 landlord|爸爸 father dad|父亲 father|妈妈 mother mum|母亲 mother|哥哥 brother|弟弟 brother
姐姐 sister|妹妹 sister|儿子 son|女儿 daughter|丈夫 husband|妻子 wife|孩子 child|朋友 friend
同事 colleague|邻居 neighbour|老师 teacher|学生 student|狗 dog|猫 cat|名字 name|叫 called name
生日 birthday|年龄 age|住 live|住在 live|出生 born|喜欢 like|讨厌 hate dislike|最喜欢 favourite
工作 work job|公司 company|办公室 office|会议 meeting|经理 manager|老板 boss|项目 project
截止 deadline due|客户 customer client|电脑 computer|手机 phone|电话 phone|邮件 email
服务器 server|数据库 database|备份 backup|代码 code|软件 software|网络 network|车 car
自行车 bicycle bike|火车 train|飞机 plane|机场 airport|地铁 underground metro|车站 station
票 ticket|酒店 hotel|护照 passport|学校 school|大学 university|书 book|语言 language|中文 chinese
英语 english|音乐 music|电影 film|游泳 swim|跑步 run|足球 football|今天 today|明天 tomorrow
昨天 yesterday|早上 morning|晚上 evening|周末 weekend|周一 monday|周二 tuesday|周三 wednesday
周四 thursday|周五 friday|周六 saturday|周日 sunday|钱 money|银行 bank|价格 price|工资 salary
买 buy|卖 sell|商店 shop|北京 beijing|上海 shanghai|中国 china|步骤 step|湿度 humidity
天气 weather|雨 rain|雪 snow|红色 red|蓝色 blue|绿色 green
"""
GLOSSARY: Final = {
    word: tuple(english.split())
    for line in _TABLE.split("\n")
    for entry in line.split("|")
    if entry
    for word, _, english in [entry.partition(" ")]
}
_LONGEST_FIRST: Final = re.compile("|".join(sorted(GLOSSARY, key=len, reverse=True)))


def glosses(run: str) -> list[str]:
    """Return the English words for a run of Chinese, longest matches first taken."""
    found = _LONGEST_FIRST.finditer(run)
    return [english for match in found for english in GLOSSARY[match.group()]]
